/* SPDX-License-Identifier: MIT */
/*
 * Who the device says it is. The numbers are shared ones, which many makers use: a host must
 * compare both names in full, never the numbers alone. Their rules ask the vendor's name to hold an
 * Internet domain of the maker. A maker who hands devices to others builds with a domain of his own
 * (make VENDOR=example.org), or with numbers of his own (make IDS="0x1234 0x5678").
 */
#pragma once

#ifndef USB_VENDOR_ID
#define USB_VENDOR_ID 0x16c0
#ifdef WATCHDOG_CDC
#define USB_PRODUCT_ID 0x05e1
#else
#define USB_PRODUCT_ID 0x05df
#endif
#endif

#ifndef USB_VENDOR_NAME
#define USB_VENDOR_NAME "pawl.invalid"
#endif
#define USB_PRODUCT_NAME "pawl-watchdog"

#define USB_VERSION 0x0001

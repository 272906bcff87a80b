; SPDX-License-Identifier: MIT
; The table for the CRC of data packets: x^16 + x^15 + x^2 + 1, least bit first (USB 2.0, 8.3.5).
; 256 low bytes, then 256 high ones; the handler needs it at a multiple of 256.
.macro crc_of number
    .set crc, \number
    .rept 8
    .if crc & 1
    .set crc, (crc >> 1) ^ 0xa001
    .else
    .set crc, crc >> 1
    .endif
    .endr
.endm

.section .progmem.data, "a", @progbits
.balign 256
.global usb_crc_table
usb_crc_table:
.set index, 0
.rept 256
    crc_of index
    .byte crc & 0xff
    .set index, index + 1
.endr
.set index, 0
.rept 256
    crc_of index
    .byte crc >> 8
    .set index, index + 1
.endr

; SPDX-License-Identifier: MIT
; Receives and sends the packets of low-speed USB; see usb_bus.h. Every path between two `in` or
; `out` of the bus pins is counted in cycles: the number after an instruction is the cycle of the
; bit, 0 to 10, in which it begins.
#include <avr/io.h>
#include "usb_bus.h"

#define IO(register) _SFR_IO_ADDR(register)

#define LENGTH(bytes) (0x90 - 8 * (bytes)) /* what `count` is after a packet of so many */

#define crc_high r17
#define shift r18   /* the last eight bits; a sender's byte */
#define fix r19     /* bits that were cleared in shift when a stuffed bit came; a sender's ones */
#define odd r20     /* the pins at bits 1, 3, 5, 7 */
#define even r21    /* the pins at bits 0, 2, 4, 6 */
#define count r22
#define phase r23   /* the pins where an edge is expected */
#define edge r24    /* bit USB_DM clear: there was an edge before bit 7 */
#define crc_low r25

.section .bss
.global usb_got, usb_got_length, usb_got_at, usb_setups, usb_packets, usb_bad
.global usb_token0, usb_token1, usb_token3, usb_stall0, usb_stall1, usb_expect0, usb_expect1
.global usb_send0, usb_send0_length, usb_send1, usb_send1_length
usb_got: .space 1
usb_got_length: .space 1
usb_got_at: .space 2
usb_setups: .space 1
usb_packets: .space 1
usb_bad: .space 1
usb_token0: .space 2
usb_token1: .space 2
usb_token3: .space 2
usb_stall0: .space 1
usb_stall1: .space 1
usb_expect0: .space 1
usb_expect1: .space 1
usb_send0: .space USB_TX_SIZE
usb_send0_length: .space 1
usb_send1: .space USB_TX_SIZE
usb_send1_length: .space 1
handshake: .space 1
buffers: .space 2 * USB_RX_SIZE
; The handler receives into the buffer at `receive`; the other one holds what was accepted last.
receive: .space 2
.global usb_bus_start

.section .text
usb_bus_start:
    ldi r24, lo8(buffers)
    ldi r25, hi8(buffers)
    sts receive, r24
    sts receive + 1, r25
    ret

; uint16_t usb_measure_frame(void): the time between two SE0, in counts of 8 cycles; 0 if the bus
; is quiet for 3 ms, 1 if it is SE0 for longer than the end of a packet. The main program calls it,
; so the handler may come between; it counts packets.
; It lies in the gap before the CRC table.
.section .progmem.gcc_frame, "ax", @progbits
.global usb_measure_frame
usb_measure_frame:
    rcall wait_for_se0
    sbiw r24, 0
    breq 2f
    ldi r18, 30
1:  in r19, IO(PINB)
    andi r19, USB_MASK
    brne wait_for_se0           ; the SE0 has ended: the next one
    dec r18
    brne 1b
    ldi r24, 1
    clr r25
2:  ret
wait_for_se0:
    clr r24
    clr r25
3:  in r18, IO(PINB)            ; 8 cycles
    andi r18, USB_MASK
    breq 2b
    adiw r24, 1
    cpi r25, 25                 ; 6400 times: 3.1 ms
    brne 3b
    clr r24
    clr r25
    ret
.section .text

.macro cycles2
    rjmp .
.endm

; ---- Receiving ----------------------------------------------------------------------------------
; D+ rises at the first K of the sync pattern KJKJKJKK.
.global PCINT0_vect
PCINT0_vect:
    push r28
    in r28, IO(SREG)
    push r28
    push r29
    push r30
    push r31
    push odd
    push even
    push shift
    push fix
    push count
    push phase
    push edge
    push crc_low
    push crc_high
next_packet:
    ldi count, 1 << PCIF
    out IO(GIFR), count
hunt:
    ldi count, 20
1:  sbic IO(PINB), USB_DM       ; J: D- is high
    rjmp wait_for_k
    dec count
    brne 1b
    rjmp leave                  ; neither: no packet
wait_for_k:
    .rept 10
    sbis IO(PINB), USB_DM
    rjmp found_k                ; 2 to 4 cycles after the edge
    .endr
    rjmp leave
found_k:
    ldi shift, 0x80             ; the pattern ends in a one: it counts for stuffing
    clr fix
    ldi count, LENGTH(0)        ; bit 7: the identifier has not been passed
    lds r28, receive
    lds r29, receive + 1
    ldi r30, 0x80
    ldi r31, hi8(usb_crc_table)
    ldi edge, 1 << USB_DM
    cycles2
    in odd, IO(PINB)            ; the middle of the next bit
    sbrc odd, USB_DM
    rjmp wait_for_k             ; J: the pattern goes on
    cycles2                     ; K after K: bits follow
    cycles2
    cycles2
    cycles2
    rjmp bit0

; One bit of the NRZI code: no change is a one. The carry is set when `before` equals `now`. Six
; ones end in a stuffed bit, which the code at `stuffed` takes.
.macro take_bit before, now, stuffed
    eor \before, \now           ; 1
    subi \before, 1             ; 2
    ror shift                   ; 3
    cpi shift, 0xfc             ; 4
    brcc \stuffed               ; 5
.endm

; The stuffed bit is sampled and dropped; a one in `shift` is cleared so that the count begins anew.
; If it is a one the packet is broken, or was none: the bus idles.
.macro drop_bit now, bit, after, broken
    andi shift, 0x7f            ; 7
    ori fix, 1 << \bit          ; 8
    cycles2                     ; 9
    in phase, IO(PINB)          ; 0
    cp phase, \now              ; 1
    breq \broken                ; 2
    mov \now, phase             ; 3  for bit 7: no edge is looked for here
    rjmp \after                 ; 4
.endm
stuffed0:
    andi shift, 0x7f            ; 9
    ori fix, 1                  ; 10
    in phase, IO(PINB)          ; 0
    cp phase, even              ; 1
    breq too_long               ; 2
    mov even, phase             ; 3
    cycles2                     ; 4
    rjmp after0                 ; 6
stuffed1: drop_bit odd, 1, after1, too_long
stuffed2: drop_bit even, 2, after2, too_long
stuffed7: drop_bit odd, 7, after7, too_long
to_end:
    rjmp end
too_long:
    rjmp ignore

bit7:
    in odd, IO(PINB)            ; 0
    take_bit even, odd, stuffed7
after7:
    eor phase, odd              ; 6  set: the edge came after the middle between two bits,
    sbrc phase, USB_DM          ; 7  our samples are early: two cycles more
    lpm phase, Z                ; 8
    mov r30, shift              ; 9
    mov edge, even              ; 10
bit0:
    in even, IO(PINB)           ; 0
    or r30, fix                 ; 1  the byte as it was sent
    clr fix                     ; 2
    eor odd, even               ; 3
    subi odd, 1                 ; 4
    ror shift                   ; 5
    cpi shift, 0xfc             ; 6
    brcc stuffed0               ; 7
after0:
    mov phase, even             ; 8
    andi phase, USB_MASK        ; 9
    breq to_end                 ; 10
bit1:
    in odd, IO(PINB)            ; 0
    take_bit even, odd, stuffed1
after1:
    mov phase, odd              ; 6
    andi phase, USB_MASK        ; 7
    breq to_end                 ; 8  a bit may come in twice before the end
    st Y+, r30                  ; 9
bit2:
    in even, IO(PINB)           ; 0
    take_bit odd, even, stuffed2
after2:
    sbrc edge, USB_DM           ; 6  an edge: one cycle less
    cycles2                     ; 7
    subi count, 8               ; 9
    breq too_long               ; 10
bit3:
    in odd, IO(PINB)            ; 0
    take_bit even, odd, stuffed3
after3:
    eor r30, crc_low            ; 6
    lpm crc_low, Z              ; 7
    eor crc_low, crc_high       ; 10
bit4:
    in even, IO(PINB)           ; 0
    take_bit odd, even, stuffed4
after4:
    inc r31                     ; 6
    lpm crc_high, Z             ; 7
    dec r31                     ; 10
bit5:
    in odd, IO(PINB)            ; 0
    take_bit even, odd, stuffed5
after5:
    sbrc count, 7               ; 6  the CRC begins after the identifier
    ldi crc_low, 0xff           ; 7
    sbrc count, 7               ; 8
    ldi crc_high, 0xff          ; 9
    nop                         ; 10
bit6:
    in even, IO(PINB)           ; 0
    take_bit odd, even, stuffed6
after6:
    in phase, IO(PINB)          ; 6
    cycles2                     ; 7
    rjmp bit7                   ; 9

stuffed3: drop_bit odd, 3, after3, broken
stuffed4: drop_bit even, 4, after4, broken
stuffed5: drop_bit odd, 5, after5, broken
stuffed6: drop_bit even, 6, after6, broken

; SE0: the packet has ended, 1.5 bits ago at most; r30 is its last byte, Y where that byte goes. What
; can wait is done when the answer has been sent.
broken:
    rjmp ignore
to_acknowledgement:
    rjmp acknowledgement
to_data:
    rjmp data
end:
    in edge, IO(GPIOR0)         ; what the token before announced
    cpi edge, NOW_IN0
    brsh to_acknowledgement
    cpi edge, NOW_NOTHING
    brne to_data
token:
    cpi count, LENGTH(3)
    brne not_us
    ld odd, -Y
    ld shift, -Y                ; identifier; comparing both bytes checks the CRC as well
    lds even, usb_token0
    cp odd, even
    breq maybe_token0
    lds even, usb_token1        ; of endpoint 3 too
    cp odd, even
    brne not_us
    lds even, usb_token1 + 1
    cp r30, even
    breq token1
    lds even, usb_token3 + 1
    cp r30, even
    brne not_us
    cpi shift, PID_IN           ; endpoint 3 never has anything to say
    brne not_us
busy:
    ldi shift, PID_NAK
    rjmp answer
stall:
    ldi shift, PID_STALL
    rjmp answer
not_us:
    rjmp ignore
maybe_token0:
    lds even, usb_token0 + 1
    cp r30, even
    brne not_us
    cpi shift, PID_IN
    brne receives0
    lds even, usb_stall0
    lds count, usb_send0_length
    ldi r28, lo8(usb_send0)
    ldi r29, hi8(usb_send0)
    ldi odd, NOW_IN0
send_data:
    tst even
    brne stall
    tst count
    breq busy
    out IO(GPIOR0), odd
    inc count
    clr r30
    rjmp send
token1:
    cpi shift, PID_IN
    brne receives1
    lds even, usb_stall1
    lds count, usb_send1_length
    ldi r28, lo8(usb_send1)
    ldi r29, hi8(usb_send1)
    ldi odd, NOW_IN1
    rjmp send_data
receives0:
    ldi odd, NOW_SETUP
    cpi shift, PID_SETUP
    breq data_follows
    ldi odd, NOW_OUT0
    rjmp 1f
receives1:
    ldi odd, NOW_OUT1
1:  cpi shift, PID_OUT
    brne not_us
data_follows:
    out IO(GPIOR0), odd
    rjmp wait_for_packet

acknowledgement:
    cpi count, LENGTH(1)
    breq 1f
    rjmp token                  ; it was lost
1:  cpi r30, PID_ACK
    brne ignore
    clr phase
    cpi edge, NOW_IN0
    brne 2f
    sts usb_send0_length, phase
    rjmp ignore
2:  sts usb_send1_length, phase
; Nothing to answer. An edge that came while this was found out is set again by the next one.
ignore:
    ldi phase, NOW_NOTHING
    out IO(GPIOR0), phase
    rcall was_packet
    rjmp leave

was_packet:
    lds phase, usb_packets
    inc phase
    sts usb_packets, phase
    ldi phase, 1 << PCIF
    out IO(GIFR), phase
    ret

data:
    lds r28, receive
    lds r29, receive + 1
    ldd shift, Y+1
    cpi shift, PID_DATA0
    breq 1f
    cpi shift, PID_DATA1
    brne not_data
1:  eor r30, crc_low            ; the last byte
    lpm crc_low, Z
    eor crc_low, crc_high
    inc r31
    lpm crc_high, Z
    cpi crc_low, 0x01           ; what the CRC is after a packet and its own CRC: 0xb001
    brne bad
    cpi crc_high, 0xb0
    brne bad
    mov r31, count
    mov r30, edge
    cpi edge, NOW_SETUP
    breq setup
    lds odd, usb_got
    tst odd
    brne is_busy                   ; the main program has not taken the last one
    lds odd, usb_expect0
    cpi edge, NOW_OUT1
    breq expects1
2:  cp odd, shift
    brne unexpected
acknowledge:
    ldi shift, PID_ACK
    rjmp answer_then
expects1:
    lds odd, usb_expect1
    rjmp 2b
unexpected:
    tst odd
    breq is_stalled
    clr r30                     ; the host missed our answer: it is answered again, and dropped
    rjmp acknowledge
setup:
    cpi count, LENGTH(11)
    breq acknowledge
    rjmp ignore
bad:
    lds odd, usb_bad
    inc odd
    sts usb_bad, odd
    rjmp ignore                 ; no answer: the host repeats
is_busy:
    rjmp busy
is_stalled:
    rjmp stall
not_data:                       ; the data was lost: a token, whose bytes end at Y + 3
    adiw r28, 3
    rjmp token

; After the acknowledgement of data: r30 says for what, r31 is the packet's `count`.
accept:
    lds r28, receive
    lds r29, receive + 1
    sts usb_got_at, r28
    sts usb_got_at + 1, r29
    ldi odd, lo8(buffers)       ; the other buffer is the next
    ldi even, hi8(buffers)
    cp r28, odd
    brne 1f
    subi odd, lo8(-USB_RX_SIZE)
    sbci even, hi8(-USB_RX_SIZE)
1:  sts receive, odd
    sts receive + 1, even
    ldi count, LENGTH(3)        ; without identifier and CRC
    sub count, r31
    lsr count
    lsr count
    lsr count
    sts usb_got_length, count
    sts usb_got, r30
    ldi odd, PID_DATA0 ^ PID_DATA1
    cpi r30, NOW_OUT0
    breq 2f
    cpi r30, NOW_SETUP
    breq 3f
    lds even, usb_expect1
    eor even, odd
    sts usb_expect1, even
    rjmp wait_for_packet
2:  lds even, usb_expect0
    eor even, odd
    sts usb_expect0, even
    rjmp wait_for_packet
3:  clr even
    sts usb_send0_length, even
    sts usb_stall0, even
    ldi even, PID_DATA1
    sts usb_expect0, even
    lds even, usb_setups
    inc even
    sts usb_setups, even

; A packet that belongs to this one, or the next, is waited for: 20 bit times.
wait_for_packet:
    rcall was_packet
    ldi count, 44
1:  sbis IO(PINB), USB_DM
    rjmp 2f
    dec count
    brne 1b
    rjmp leave
2:  sbic IO(PINB), USB_DP       ; SE0, the end of a token or a keep-alive, is not K
    rjmp next_packet
    dec count
    brne 1b

leave:
    in r28, IO(GIFR)
    sbrc r28, PCIF
    rjmp next_packet            ; the next one has begun
    pop crc_high
    pop crc_low
    pop edge
    pop phase
    pop count
    pop fix
    pop shift
    pop even
    pop odd
    pop r31
    pop r30
    pop r29
    pop r28
    out IO(SREG), r28
    pop r28
    reti

; ---- Sending ------------------------------------------------------------------------------------
; A packet of the identifier in `shift` alone.
answer:                         ; without anything to do afterwards
    clr r30
answer_then:
    sts handshake, shift
    ldi r28, lo8(handshake)
    ldi r29, hi8(handshake)
    ldi count, 2
    ldi shift, NOW_NOTHING
    out IO(GPIOR0), shift
; Sends the sync pattern, then `count` - 1 bytes from Y on. Keeps crc_high, r30 and r31.
send:
    sbi IO(PORTB), USB_DM       ; J
    in even, IO(DDRB)
    ori even, USB_MASK
    out IO(DDRB), even
    ldi phase, USB_MASK
    ldi fix, 6                  ; ones until a bit is stuffed
    ldi shift, 0x80

; A zero changes both pins, a one leaves them; the sixth one is followed by a change.
.macro send_bit number
    lsr shift                   ; 0
    brcs 1f                     ; 1
    out IO(PINB), phase         ; 2  writing PINB toggles the pins
    ldi fix, 6                  ; 3
    rjmp sent\number            ; 4
2:  cycles2                     ; 6  the stuffed bit
    cycles2                     ; 8
    cycles2                     ; 10
    nop                         ; 1
    out IO(PINB), phase         ; 2
    ldi fix, 6                  ; 3
    rjmp sent\number            ; 4
1:  dec fix                     ; 3
    breq 2b                     ; 4
    nop                         ; 5
sent\number:
.endm
send_byte:
    ldi crc_low, 6              ; 10 of bit 7 before, or the time before the first bit
send_low_bits:
    send_bit 0
    cycles2                     ; 6
    dec crc_low                 ; 8
    brne send_low_bits          ; 9
    ; The loop's last bit is one cycle short.
    nop                         ; 10
    send_bit 6
    ld edge, Y+                 ; 6
    cycles2                     ; 8
    nop                         ; 10
    send_bit 7
    mov shift, edge             ; 6
    dec count                   ; 7
    brne send_byte              ; 8
send_end:
    nop                         ; 9
    nop                         ; 10
    in odd, IO(PORTB)           ; 0
    andi odd, ~USB_MASK & 0xff  ; 1
    out IO(PORTB), odd          ; 2  SE0, for two bits
    ldi count, 6                ; 3
1:  dec count                   ; 4
    brne 1b                     ; 5
    nop
    ori odd, 1 << USB_DM        ; 1
    out IO(PORTB), odd          ; 2  J, for one bit
    in even, IO(DDRB)
    andi even, ~USB_MASK & 0xff
    cycles2
    cycles2
    cycles2
    andi odd, ~USB_MASK & 0xff
    out IO(DDRB), even          ; released
    out IO(PORTB), odd
    tst r30
    breq 2f
    rjmp accept
2:  rjmp wait_for_packet

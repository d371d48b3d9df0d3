# A front of 10 MiB that nothing in the program touches, something behind it, and room for the note,
# which the test fills in after the link: position-independent code has no addresses before.
    .section .rodata.front, "aR", @progbits
    .fill 10 << 17, 8, 1
    .globl front_end
front_end:
    .fill 1 << 17, 8, 1

    .section .note.frontload, "a", @note
    .balign 4
    .zero 2256

    .section .note.GNU-stack, "", @progbits

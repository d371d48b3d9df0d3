/* The largest gap between two ranges of a reading list that is read too, for each kind of device.
 * instrument/prefetch reads lists by these, and lldplugin/cold_start predicts costs by them.
 *
 * Reading a gap is worth it if that is faster than another request. The limit is bandwidth divided
 * by requests a second: 512 KiB on the disk of 150 requests and 80 MB a second. There we read
 * smaller gaps, because the time hardly changes up to that limit, and a list must not make a start
 * read more. Debian's clang, all cold, reads 104.5 MB without a list:
 *
 *   gaps of up to   requests   MB      s by the model
 *   128 KiB         241         85.9   2.68
 *   192 KiB         182         95.6   2.41
 *   256 KiB         150        103.0   2.29
 *   512 KiB          97        122.2   2.17
 *
 * A network or FUSE has many requests under way at once, and transfers each byte.
 *
 * A note is written once for all devices. Gaps up to the default readahead are in it, which the
 * fault of a page reads too; if there are too many ranges, gaps up to those of a disk. Clang by lld
 * with an order file and packed relocations, whose start reads 18.0 MB without a note, has 39
 * ranges and 12.9 MB with gaps up to 64 KiB (0.42 s on that disk), 34 and 13.4 with 128 (0.32 s),
 * 27 and 14.8 with 256 (0.32 s). */
#pragma once

/* In bytes. */
#define FRONTLOAD_GAP_HDD (192 << 10)
#define FRONTLOAD_GAP_EMMC (64 << 10)
#define FRONTLOAD_GAP_SSD (32 << 10)
#define FRONTLOAD_GAP_NFS (32 << 10)
#define FRONTLOAD_GAP_LAZY (16 << 10)
#define FRONTLOAD_GAP_NOTE (128 << 10)

/* The largest gap between two ranges of a prefetch list that is read too, for each kind of device.
 * instrument/prefetch reads lists by these, and lldplugin/cold_start predicts costs by them.
 *
 * Reading a gap is worth it if that is faster than another request. The limit is bandwidth divided
 * by requests a second: 512 KiB on the disk of 150 requests and 80 MB a second. There we read
 * smaller gaps, because the time hardly changes up to that limit, and a list must not make a start
 * read more: Debian's clang, all cold, reads 104.5 MB without a list, 95.6 MB in 2.41 s (by the
 * model) with gaps of up to 192 KiB, and 122.2 MB in 2.17 s with those of up to 512 KiB.
 *
 * A network or FUSE has many requests under way at once, and transfers each byte.
 *
 * A note is written once for all devices. Gaps that save a request are in it up to the default
 * readahead, which the fault of a page reads too, and larger ones as long as the start reads no
 * more than by its faults.
 */
#pragma once

/* In bytes. */
#define FRONTLOAD_GAP_HDD (192 << 10)
#define FRONTLOAD_GAP_EMMC (64 << 10)
#define FRONTLOAD_GAP_SSD (32 << 10)
#define FRONTLOAD_GAP_NFS (32 << 10)
#define FRONTLOAD_GAP_LAZY (16 << 10)
#define FRONTLOAD_GAP_NOTE (128 << 10)

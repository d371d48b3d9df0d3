/* Up to which size a gap between two ranges of a reading list is read along, for each kind of
 * device. What asks for a list goes by these (instrument/prefetch), and what predicts its cost
 * (lldplugin/cold_start).
 *
 * A gap is worth reading along if that is quicker than another request. That is up to bandwidth by
 * requests a second: 512 KiB on the disk of 150 requests and 80 MB a second. There we read along
 * less, as the time hardly changes up to that, and a start must not read more with a list than
 * without. Debian's clang, all cold, reads 104.5 MB as it is:
 *
 *   gaps of up to   requests   MB      s by the model
 *   128 KiB         241         85.9   2.68
 *   192 KiB         182         95.6   2.41
 *   256 KiB         150        103.0   2.29
 *   512 KiB          97        122.2   2.17
 *
 * A network or FUSE has many requests under way at once, and each byte travels. */
#ifndef FRONTLOAD_GAPS_H
#define FRONTLOAD_GAPS_H

/* In bytes. */
#define FRONTLOAD_GAP_HDD (192 << 10)
#define FRONTLOAD_GAP_EMMC (64 << 10)
#define FRONTLOAD_GAP_SSD (32 << 10)
#define FRONTLOAD_GAP_NFS (32 << 10)
#define FRONTLOAD_GAP_LAZY (16 << 10)

#endif

"""A separate device for measured files, slowed by the kernel to the speed of other hardware."""

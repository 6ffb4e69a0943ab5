/// Device memory, host memory and a disk as one tier: blocks are demoted and promoted, and the disk keeps
/// its copies.
@NullMarked
package io.penstock.examples.tiers;

import org.jspecify.annotations.NullMarked;

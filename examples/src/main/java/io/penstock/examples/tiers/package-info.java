/// Device memory, host memory and a disk as one tier: blocks sink and rise, and the disk keeps what it has.
@NullMarked
package io.penstock.examples.tiers;

import org.jspecify.annotations.NullMarked;

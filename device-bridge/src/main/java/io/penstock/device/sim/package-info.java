/// A device that is none: host memory standing for the memory of an accelerator, with a clock and faults that tests
/// choose.
@NullMarked
package io.penstock.device.sim;

import org.jspecify.annotations.NullMarked;

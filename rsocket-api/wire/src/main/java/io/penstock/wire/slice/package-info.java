/// Slices of blocks on their way: header and frame, the gate that sends them, the landing that verifies them, and what
/// is still in flight.
@NullMarked
package io.penstock.wire.slice;

import org.jspecify.annotations.NullMarked;

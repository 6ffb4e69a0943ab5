/// Bytes of segments on their way: sent, received and read piece by piece, in frames or by reference.
@NullMarked
package io.penstock.wire.segment;

import org.jspecify.annotations.NullMarked;

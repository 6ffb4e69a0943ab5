/// Slots of a client's own shared memory, which the node maps: their bytes go between the slots and the blocks of a
/// tier without a socket.
@NullMarked
package io.penstock.wire.region;

import org.jspecify.annotations.NullMarked;

/// A pipe of tensors between two processes, built on the public API only: ordered, as fast as the receiving end asks,
/// every byte verified, and with an end that gives its reason.
///
/// One end listens and sends, the other connects and receives. The sending end is a node whose tier makes a block,
/// called chunk here, of the next bytes whenever the receiving end asks for one; chunks are named by their number. So
/// order, credit, checksums and the byte budget are those of the wire.
@NullMarked
package io.penstock.examples.pipe;

import org.jspecify.annotations.NullMarked;

/// Frames between two sockets: RSocket's `DuplexConnection` written for bulk, over TCP and Unix domain sockets.
///
/// What bounds what:
///
/// | bytes | bounded by |
/// |---|---|
/// | waiting to be sent | [ConnectionLimits#maxQueuedBytes()]; one more: `SendQueueOverrunException` |
/// | handed to the socket, unsent | [ConnectionLimits#maxChannelBytes()] and one frame |
/// | received, not yet taken by the subscriber | one receive buffer and one open frame; none is read without demand |
/// | of open frames of a server, over all connections | [ReceiveLimits#roomBytes()], but for those that it asked for |
/// | received, taken, not yet released | the credit the receiver gave; a short frame pins its receive buffer |
///
/// A server bounds its connections by [ConnectionSlots]: those that are set up, in all and by source address, and
/// those that are not. What ends a connection has a name, a [Refusal].
///
/// Reading never depends on how far writing is behind: two peers that stopped reading because neither could write would
/// wait for each other for ever. A peer that does not read is met by the send bound and by keep-alive instead.
@NullMarked
package io.penstock.wire.transport;

import org.jspecify.annotations.NullMarked;

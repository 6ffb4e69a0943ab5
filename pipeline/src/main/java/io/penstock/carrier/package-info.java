/// The way of verified slices from the blocks of a sender into the drafts of a receiver. Start with [SliceSender] and
/// [SliceReceiver].
///
/// Credit, headers, completion and cancellation are frames of the connection, for every carrier. A frame has the header
/// of a slice and, behind it, the carrier's part: the bytes, or references to memory that both processes see.
@NullMarked
package io.penstock.carrier;

import org.jspecify.annotations.NullMarked;

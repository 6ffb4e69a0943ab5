package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// The end of a request on the receiving side.
///
/// @param blocks outcome of every expected block
/// @param aux data that came with the blocks, if the request ended well
/// @param retries number of retries of shards
/// @param cause reason why blocks did not arrive; null if all did
public record Received(String request, Ending ending, BlockOutcomes blocks, @Nullable AuxData aux, int retries,
    @Nullable Throwable cause) {
  public Received {
    requireNonNull(request, "request");
    requireNonNull(ending, "ending");
    requireNonNull(blocks, "blocks");
  }

  /// This end, for a request whose memory did not drain in time.
  Received undrained() {
    return new Received(request, Ending.FAILED, blocks, null, retries, cause);
  }

  /// The one state in which it ended.
  public RequestState state() {
    return ending.state();
  }
}

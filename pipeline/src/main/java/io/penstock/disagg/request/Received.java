package io.penstock.disagg.request;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// The end of a request on the receiving side.
///
/// @param blocks outcome of every block that was to come
/// @param aux what came with the blocks, if the request ended well
/// @param retries how often a shard was asked for again
/// @param cause why blocks did not come; null if all came
public record Received(String request, Ending ending, BlockOutcomes blocks, @Nullable AuxData aux, int retries,
    @Nullable Throwable cause) {
  public Received {
    requireNonNull(request, "request");
    requireNonNull(ending, "ending");
    requireNonNull(blocks, "blocks");
  }

  /// The same end, if its memory did not drain in time.
  Received undrained() {
    return new Received(request, Ending.FAILED, blocks, null, retries, cause);
  }

  /// The one state in which it ended.
  public RequestState state() {
    return ending.state();
  }
}

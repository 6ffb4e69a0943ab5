package io.penstock.wire;

import io.penstock.block.BlockKey;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/// Items over connections to which something happens; see [FaultRound].
interface FaultCase {
  /// Items of the case.
  int items();

  /// Begins the items; completes when all have ended.
  ///
  /// @param ended counts those that ended
  CompletableFuture<Void> run(AtomicInteger ended);

  /// Bytes that its connections have carried; grows.
  long moved();

  /// What happened to its connections so far.
  List<FaultPlan> fired();

  /// Ends the side of the caller, which must have kept nothing.
  void endCaller();

  /// Blocks that the node acknowledged.
  List<BlockKey> acknowledged();

  /// Compares how each item ended with what happened.
  ///
  /// @param restarted whether the node was started again meanwhile
  void check(boolean restarted, FaultTally tally);

  /// Ends what was left as it was.
  void endConnections();
}

package io.penstock.cluster.directory;

import java.util.List;
import java.util.function.LongPredicate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A map from names of blocks to their [Holders], spread over the members of a cluster. Soft state: a lost member takes
/// its part along. A change of a name is made where the name is kept, so changes of two members at a time both count.
/// Safe from any thread; changes that one caller makes one after another happen in that order.
///
/// Every call is cold, and each makes one trip to each member concerned, however many names it has. A call that fails
/// may have happened, in part or as a whole; it can be made again.
public interface SharedMap {
  /// Adds a holder to each of `names`.
  ///
  /// @param former rounds of the same member that this one takes the place of
  Mono<Void> announce(long round, int level, long[] former, List<BlockName> names);

  /// Removes the holder of these rounds from each of `names`.
  Mono<Void> forget(long[] rounds, List<BlockName> names);

  /// Holders of each of `names`, in their order; [Holders#NONE] for a name without any.
  Mono<List<byte[]>> locate(List<BlockName> names);

  /// Questions to members that [#locate] asked and that had no answer in time, or an error, so far; 0 for a map that
  /// waits for all.
  default long unanswered() {
    return 0;
  }

  /// Rounds that the part of the map that is kept here names, and that are not `known`.
  Mono<long[]> unknown(LongPredicate known);

  /// Removes the holders of these rounds from the part of the map that is kept here.
  Mono<Void> purge(long[] rounds);

  /// Losses, as this member sees them. Hot: a subscriber gets those from then on; it must not be slow.
  Flux<MapLoss> losses();
}

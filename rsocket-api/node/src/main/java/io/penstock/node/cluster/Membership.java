package io.penstock.node.cluster;

import io.penstock.tier.BlockTier;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import java.time.Duration;
import java.util.Optional;
import reactor.core.publisher.Mono;

/// A node's place in a cluster.
public interface Membership extends ClusterDirectory {
  /// Where other members reach this one, `HOST:PORT` with the port that was bound: a seed for those to come.
  String address();

  /// Messages that were dropped since the node joined, for they were not of a member with the secret; 0 without one.
  long refused();

  /// Questions about blocks that members did not answer in time since the node joined: the names that they keep were
  /// as if unknown.
  long unanswered();

  /// Tells the cluster which blocks `tier` has, from now on: its present blocks first, at a bounded rate, then each
  /// change. After a split of the cluster it tells all again. Does not wait for any of it.
  ///
  /// @return cold; completes when the tier closes or the membership ends; cancel stops it
  Mono<Void> announce(BlockTier tier);

  /// Tells the cluster whether this node takes new blocks.
  void tell(Member.State state);

  /// How long ago this node heard anything new of the record of the member of this name; empty if it knows none.
  Optional<Duration> toldAgo(String name);

  /// A small table that every member has: of one name, one table in the cluster. Once this member has left, nothing is
  /// written, and nothing heard.
  SharedTable table(String name);

  /// Why the cluster does not take this member any more: another one has its name. It has left then.
  ///
  /// @return emits once that is so, if ever; completes when the member leaves by itself
  Mono<Exception> lost();

  /// Leaves the cluster; lazy and idempotent. Others forget this node's blocks.
  Mono<Void> close();
}

package io.penstock.wire.cluster;

import io.penstock.block.BlockKey;
import java.util.List;
import reactor.core.publisher.Mono;

/// What one node knows of its cluster. Any node answers for all; none is special. Safe from any thread.
public interface ClusterDirectory {
  /// Name of the cluster.
  String cluster();

  /// Members that are there now, as far as this node knows, in the order of their names. Answers at once. Empty
  /// while this node is in no cluster: it has not joined yet, or is leaving.
  List<Member> members();

  /// Spaces that have a quota over all members, as far as this node knows. Answers at once.
  default List<SpaceQuota> quotas() {
    return List.of();
  }

  /// Members that say that they have the blocks of `keys`: of members that are there, in their present start. A loss,
  /// or a split of the network, makes it forget blocks; it never knows that a block is really there. Signals
  /// [NotJoinedException] while this node is in no cluster.
  ///
  /// @return cold; as many keys as `keys`, whose number bounds the work, whatever the number of members is
  Mono<Located> locate(List<BlockKey> keys);
}

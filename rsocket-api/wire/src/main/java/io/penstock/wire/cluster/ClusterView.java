package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// A cluster as one of its nodes sees it.
///
/// @param cluster its name
/// @param members that are there, in the order of their names
/// @param quotas of spaces that have one over all members
public record ClusterView(String cluster, List<Member> members, List<SpaceQuota> quotas) {
  public ClusterView {
    requireNonNull(cluster, "cluster");
    members = List.copyOf(members);
    quotas = List.copyOf(quotas);
  }

  /// A cluster without quotas.
  public ClusterView(String cluster, List<Member> members) {
    this(cluster, members, List.of());
  }
}

package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// A cluster as one of its nodes sees it.
///
/// @param cluster its name
/// @param members that are there, in the order of their names
public record ClusterView(String cluster, List<Member> members) {
  public ClusterView {
    requireNonNull(cluster, "cluster");
    members = List.copyOf(members);
  }
}

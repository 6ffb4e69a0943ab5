package io.penstock.node.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.wire.cluster.Member;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// How a node joins a cluster.
///
/// @param cluster its name; nodes of another name are refused
/// @param node name of this node, unique in the cluster
/// @param generation number of this start of the node
/// @param place where it stands, see [Member#place()]
/// @param seeds `HOST:PORT` of nodes that may be there; a name is looked up again at each attempt, and each of its
///     addresses is tried. Empty for a cluster that others join
/// @param host that the node binds for the talk between members
/// @param port for it; 0 for a free one
/// @param secret that all members share; encrypts what they say. Null for none
/// @param endpoints where clients reach this node
/// @param figures its present figures, read each second
/// @param timers for what is done after a while; never used for work
public record ClusterTerms(String cluster, String node, long generation, String place, List<String> seeds, String host,
    int port, byte @Nullable [] secret, Supplier<List<String>> endpoints, Supplier<Member.Figures> figures,
    Scheduler timers) {
  public ClusterTerms {
    requireNonNull(cluster, "cluster");
    requireNonNull(node, "node");
    requireNonNull(place, "place");
    seeds = List.copyOf(seeds);
    requireNonNull(host, "host");
    requireNonNull(endpoints, "endpoints");
    requireNonNull(figures, "figures");
    requireNonNull(timers, "timers");
  }
}

package io.penstock.node.link;

import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/// A link to a cluster that names no space: it tells which spaces know a session at any member, and links with one.
record ClusterSpacesLink(NodeAddress address, NodeConfig config, Duration patience) implements NodeLink {
  @Override
  public BlockTier tier() {
    throw new IllegalStateException("link must name a space to have a tier (named none)");
  }

  @Override
  public Mono<ServerStat> stat() {
    return Mono.error(new IllegalStateException("link must be of one node to ask for its figures (was of a cluster)"));
  }

  /// Asks member after member on the thread that subscribes, and passes over those that do not listen.
  @Override
  public Mono<List<CacheSpace>> spaces(SessionId session) {
    return Mono.fromCallable(() -> {
      List<Member> members;
      try (NodeLink node = StatLink.to(address, config, patience)) {
        members = Answers.of(node.cluster().members(), patience).members();
      }
      Map<SpaceId, CacheSpace> spaces = new LinkedHashMap<>();
      for (Member member : members) {
        at(member, session).forEach(space -> spaces.putIfAbsent(space.id(), space));
      }
      return List.copyOf(spaces.values());
    });
  }

  /// At the first endpoint that answers.
  private List<CacheSpace> at(Member member, SessionId session) {
    for (String place : member.endpoints()) {
      try (NodeLink node = StatLink.to(address.at(Endpoint.parse(place)), config, patience)) {
        return Answers.of(node.spaces(session), patience);
      } catch (UnavailableException gone) {
        continue; // another endpoint may answer
      }
    }
    return List.of();
  }

  @Override
  public NodeLink in(CacheSpace space) {
    return AllNodesLink.dial(address, config, space, patience, Spread.defaults());
  }

  @Override
  public void close() {}
}

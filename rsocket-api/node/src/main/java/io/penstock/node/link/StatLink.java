package io.penstock.node.link;

import io.penstock.block.CacheSpace;
import io.penstock.block.session.SessionId;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.operator.LiveTimers;
import io.penstock.tier.BlockTier;
import io.penstock.wire.NodeSessions;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A link that names no space: it answers with the node's report about itself, and nothing else.
final class StatLink implements NodeLink {
  private final NodeAddress address;
  private final NodeConfig config;
  private final Duration patience;
  private final TcpClientOptions tcp;
  private final LoopResources loops = LoopResources.create("penstock-client", 1, true);

  private StatLink(NodeAddress address, NodeConfig config, Duration patience, TcpClientOptions tcp) {
    this.address = address;
    this.config = config;
    this.patience = patience;
    this.tcp = tcp;
  }

  static NodeLink to(NodeAddress address, NodeConfig config, Duration patience) {
    return new StatLink(address, config, patience,
        address.pass().with(TcpClientOptions.to(address.place().address()).withConnectTimeout(patience)));
  }

  @Override
  public BlockTier tier() {
    throw new IllegalStateException("link must name a space to have a tier (named none)");
  }

  @Override
  public Mono<ServerStat> stat() {
    return KvClient
        .statOf(TcpTransport.client(address.place(), tcp, loops, address.listener()),
            WireLink.options(address).build())
        .onErrorMap(ConnectionLostException.class, lost -> WireLink.unavailable(address, lost));
  }

  @Override
  public Mono<List<InstanceView>> instances() {
    return Mono.usingWhen(Mono.fromSupplier(this::registry), RegistryClient::instances, RegistryClient::close)
        .onErrorMap(ConnectionLostException.class, lost -> WireLink.unavailable(address, lost))
        .onErrorMap(WireLink::isUnknownRoute, unknown -> new UnavailableException(
            "registry must be true in the settings of the node at " + address
                + ", as serve --registry true sets it (was false)",
            unknown));
  }

  @Override
  public ClusterLink cluster() {
    return WireClusterLink.to(address, loops, patience);
  }

  @Override
  public Mono<List<CacheSpace>> spaces(SessionId session) {
    return Mono.usingWhen(Mono.fromSupplier(this::sessions), all -> all.spaces(session), NodeSessions::close)
        .onErrorMap(ConnectionLostException.class, lost -> WireLink.unavailable(address, lost))
        .onErrorMap(WireLink::isUnknownRoute, unknown -> new UnavailableException(
            "the node at " + address + " must be able to list the blocks of a session (is of an earlier release)",
            unknown));
  }

  private NodeSessions sessions() {
    return NodeSessions.of(TcpTransport.client(address.place(), tcp, loops, address.listener()),
        WireLink.options(address).build(), KvPeerOptions.defaults(), LiveTimers.of(Schedulers.single()),
        RandomGenerator.getDefault());
  }

  @Override
  public NodeLink in(CacheSpace space) {
    return WireLink.dial(address, config, space, patience);
  }

  private RegistryClient registry() {
    return RegistryClient.of(TcpTransport.client(address.place(), tcp, loops, address.listener()),
        WireLink.options(address).build(), KvPeerOptions.defaults(), LiveTimers.of(Schedulers.single()),
        RandomGenerator.getDefault());
  }

  @Override
  public void close() {
    WireLink.end(loops);
  }
}

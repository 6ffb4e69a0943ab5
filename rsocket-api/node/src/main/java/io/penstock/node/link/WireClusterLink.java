package io.penstock.node.link;

import io.penstock.node.cli.UnavailableException;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Asks a node over the wire, with a connection for each question.
record WireClusterLink(NodeAddress address, ClientTransport transport, KvClientOptions options) implements ClusterLink {
  static WireClusterLink to(NodeAddress address, LoopResources loops, Duration patience) {
    TcpClientOptions there =
        address.pass().with(TcpClientOptions.to(address.place().address()).withConnectTimeout(patience));
    return new WireClusterLink(address, TcpTransport.client(address.place(), there, loops, address.listener()),
        WireLink.options(address).build());
  }

  @Override
  public Mono<ClusterView> members() {
    return said(KvClient.membersOf(transport, options));
  }

  @Override
  public Mono<List<ClusterTask>> tasks() {
    return said(KvClient.tasksOf(transport, options));
  }

  @Override
  public Mono<ClusterTask> start(TaskOrder order) {
    return said(KvClient.startAt(transport, options, order));
  }

  @Override
  public Mono<Boolean> cancel(String id) {
    return said(KvClient.cancelAt(transport, options, id));
  }

  private <T> Mono<T> said(Mono<T> answer) {
    return answer.onErrorMap(ConnectionLostException.class, lost -> WireLink.unavailable(address, lost))
        .onErrorMap(WireLink::isUnknownRoute, unknown -> outside(address, unknown));
  }

  /// @param unknown its refusal of a route that members of a cluster serve
  static UnavailableException outside(NodeAddress address, Throwable unknown) {
    return new UnavailableException("cluster must be a name in the settings of the node at " + address
        + ", as serve --cluster NAME sets it (was none)", unknown);
  }
}

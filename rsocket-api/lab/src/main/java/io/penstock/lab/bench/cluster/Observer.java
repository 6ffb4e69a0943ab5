package io.penstock.lab.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Asks each node by itself what it has and which nodes it sees. Every question waits. For one thread.
final class Observer implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int WINDOW = 64;

  private final CacheSpace space;
  private final LoopResources loops = LoopResources.create("penstock-observer", 1, true);
  private final SlabArena arena;
  private final ByteBudget budget = new ByteBudget("observer", 16 << 20, WINDOW);
  private final KvClientOptions options = KvClientOptions.builder().name("penstock-observer").build();
  private final Map<String, KvClient> open = new HashMap<>();

  Observer(CacheSpace space) {
    this.space = space;
    this.arena = new SlabArena("observed", space.layout(), WINDOW, WINDOW);
  }

  private ClientTransport transport(NodeProcess node) {
    return TcpTransport.client(TcpClientOptions.to(Endpoint.parse(node.endpoint()).address()), loops);
  }

  private KvClient at(NodeProcess node) {
    return open.computeIfAbsent(node.endpoint(),
        place -> answer(KvClient.connect(transport(node), options, space, arena, budget)));
  }

  /// Names of the members that `node` sees.
  Set<String> members(NodeProcess node) {
    return answer(at(node).members()).members().stream().map(Member::name).collect(Collectors.toSet());
  }

  /// Those of `keys` that `node` itself has.
  Set<BlockKey> held(NodeProcess node, List<BlockKey> keys) {
    return ClusterClient.present(keys, part -> at(node).contains(part));
  }

  /// Those of `keys` that any of `nodes` has.
  Set<BlockKey> held(List<NodeProcess> nodes, List<BlockKey> keys) {
    Set<BlockKey> held = new HashSet<>();
    nodes.forEach(node -> held.addAll(held(node, keys)));
    return held;
  }

  /// Those of `keys` that members other than `without` have, as `node` knows.
  Set<BlockKey> located(NodeProcess node, List<BlockKey> keys, Set<String> without) {
    Set<BlockKey> located = new HashSet<>();
    for (List<BlockKey> part : ClusterClient.parts(keys)) {
      Located found = answer(at(node).locate(part));
      for (int i = 0; i < part.size(); i++) {
        if (found.holders(i).stream()
            .anyMatch(holder -> !without.contains(found.members().get(holder.member()).name()))) {
          located.add(part.get(i));
        }
      }
    }
    return located;
  }

  ClusterTask start(NodeProcess node, TaskOrder order) {
    return answer(KvClient.startAt(transport(node), options, order));
  }

  /// The task as it stands now.
  ClusterTask look(NodeProcess node, ClusterTask task) {
    return answer(KvClient.tasksOf(transport(node), options)).stream()
        .filter(each -> each.id().equals(task.id())).findFirst()
        .orElseThrow(() -> new IllegalStateException("node " + node.name() + " must know its task (did not)"));
  }

  /// Gives the connection to a node up: it ends, or starts again.
  void forget(NodeProcess node) {
    KvClient client = open.remove(node.endpoint());
    if (client != null) {
      answer(client.close().thenReturn(true));
    }
  }

  private static <T> T answer(Mono<T> question) {
    return requireNonNull(question.block(PATIENCE), "an answer");
  }

  @Override
  public void close() {
    open.values().forEach(client -> client.close().onErrorComplete().subscribe());
    arena.close();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }
}

package io.penstock.node.serve;

import io.penstock.block.BlockKey;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Clusters;
import io.penstock.node.cluster.Membership;
import io.penstock.node.cluster.MemoryTable;
import io.penstock.tier.BlockTier;
import io.penstock.tier.KnownBlocks;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Clusters of this process: a map that all nodes see at once. A cluster of a name in [#REFUSALS] lets none in.
public final class FakeClusters implements Clusters {
  private static final Map<String, Map<String, One>> CLUSTERS = new ConcurrentHashMap<>();
  private static final Map<String, SharedTable> TABLES = new ConcurrentHashMap<>();
  static final Map<String, IOException> REFUSALS = Map.of("taken-port", new BindException("Address already in use"),
      "no-seed", new UnknownHostException("seed.test"), "strict",
      new IOException("secret must be that of its members"));

  /// Age of every record.
  static final Duration TOLD_AGO = Duration.ofMillis(1500);

  /// One member.
  static final class One implements Membership {
    final ClusterTerms terms;
    /// What the node told, in this order.
    final List<String> told = new CopyOnWriteArrayList<>();
    /// Takes a reason why the cluster does not take it any more.
    final Sinks.One<Exception> refusal = Sinks.one();
    private final Map<BlockTier, KnownBlocks> blocks = new ConcurrentHashMap<>();
    private volatile Member.State state = Member.State.UP;

    One(ClusterTerms terms) {
      this.terms = terms;
    }

    private Member member() {
      return new Member(terms.node(), terms.generation(), terms.endpoints().get(), terms.place(), state,
          terms.figures().get());
    }

    @Override
    public String cluster() {
      return terms.cluster();
    }

    @Override
    public List<Member> members() {
      return of(terms.cluster()).stream().map(One::member).toList();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return Mono.fromSupplier(() -> {
        List<One> all = of(terms.cluster());
        return Located.of(all.stream().map(One::member).toList(), keys.stream().map(key -> {
          List<Located.Holder> holders = new ArrayList<>();
          for (int i = 0; i < all.size(); i++) {
            if (all.get(i).visible().contains(key)) {
              holders.add(new Located.Holder(i, 0));
            }
          }
          return holders;
        }).toList());
      });
    }

    /// Keys of the blocks that the node has, as far as it has told.
    Set<BlockKey> visible() {
      return blocks.values().stream().flatMap(known -> {
        synchronized (known) {
          return known.visible().stream();
        }
      }).collect(Collectors.toSet());
    }

    /// Names of the tiers whose blocks the node tells.
    List<String> tiers() {
      return blocks.keySet().stream().map(tier -> tier.info().name()).sorted().toList();
    }

    @Override
    public Mono<Exception> lost() {
      return refusal.asMono();
    }

    @Override
    public String address() {
      return "127.0.0.1:" + (terms.port() == 0 ? 7801 : terms.port());
    }

    @Override
    public Mono<Void> announce(BlockTier tier) {
      return Mono.defer(() -> {
        KnownBlocks known = new KnownBlocks();
        blocks.put(tier, known);
        return tier.follow().doOnNext(event -> {
          synchronized (known) {
            known.apply(event);
          }
        }).doOnCancel(() -> told.add("no more of " + tier.info().name())).then();
      });
    }

    @Override
    public SharedTable table(String name) {
      return TABLES.computeIfAbsent(terms.cluster() + " " + name, either -> new MemoryTable());
    }

    @Override
    public long refused() {
      return 0;
    }

    @Override
    public long unanswered() {
      return 7;
    }

    @Override
    public Optional<Duration> toldAgo(String name) {
      return Optional.of(TOLD_AGO).filter(ago -> of(terms.cluster()).stream().anyMatch(
          one -> one.terms.node().equals(name)));
    }

    @Override
    public void tell(Member.State now) {
      state = now;
      told.add(now + ", " + heard());
    }

    @Override
    public Mono<Void> close() {
      return Mono.fromRunnable(() -> {
        told.add("left, " + heard());
        CLUSTERS.get(terms.cluster()).remove(terms.node());
      });
    }

    /// Whether clients can connect.
    private String heard() {
      String place = terms.endpoints().get().getFirst();
      int port = Integer.parseInt(place.substring(place.lastIndexOf(':') + 1));
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return socket.isConnected() ? "listens" : "is deaf";
      } catch (IOException e) {
        return "is deaf";
      }
    }
  }

  /// The members of a cluster, in the order of their names.
  static List<One> of(String cluster) {
    return CLUSTERS.getOrDefault(cluster, Map.of()).values().stream()
        .sorted(Comparator.comparing(one -> one.terms.node())).toList();
  }

  @Override
  public Mono<Membership> join(ClusterTerms terms) {
    return Mono.fromCallable(() -> {
      IOException refusal = REFUSALS.get(terms.cluster());
      if (refusal != null) {
        throw refusal;
      }
      One one = new One(terms);
      if (CLUSTERS.computeIfAbsent(terms.cluster(), name -> new ConcurrentHashMap<>())
          .putIfAbsent(terms.node(), one) != null) {
        throw new IOException("node must have a name of its own (was " + terms.node() + ")");
      }
      return one;
    });
  }
}

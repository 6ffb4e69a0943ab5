package io.penstock.cluster.infinispan;

import io.penstock.block.BlockKey;
import io.penstock.cluster.directory.ModelTier;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Membership;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.infinispan.configuration.cache.StorageType;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// A member of a cluster on the loopback, with a tier without bytes.
final class TestMember implements AutoCloseable {
  /// Members that lose and find each other sooner than nodes do.
  static final Joining QUICK = new Joining(InetAddress::getAllByName, new SecureRandom(), StorageType.OFF_HEAP, 200_000,
      new ChannelTimes(500, 400, 500, 2000));
  static final Scheduler TIMERS = Schedulers.newParallel("test-timers", 1, true);
  private static final int LOG = 1 << 16;

  final String name;
  final ModelTier tier = new ModelTier(LOG);
  final AtomicReference<Figures> figures;
  final Membership membership;
  private final Disposable announcing;

  private TestMember(String name, AtomicReference<Figures> figures, Membership membership) {
    this.name = name;
    this.figures = figures;
    this.membership = membership;
    this.announcing = membership.announce(tier).subscribe();
  }

  static TestMember join(String cluster, String name, int port, int... seeds) {
    return join(Joining.defaults(), cluster, name, port, null, seeds);
  }

  static TestMember join(Joining joining, String cluster, String name, int port, String secret, int... seeds) {
    AtomicReference<Figures> figures = new AtomicReference<>(new Figures(0, 1000, 0));
    Membership membership = attempt(joining, cluster, name, port, secret, figures, seeds).block();
    return new TestMember(name, figures, membership);
  }

  static Mono<Membership> attempt(Joining joining, String cluster, String name, int port, String secret,
      AtomicReference<Figures> figures, int... seeds) {
    List<String> all = Arrays.stream(seeds).mapToObj(seed -> "localhost:" + seed).toList();
    return joining.join(new ClusterTerms(cluster, name, 1, "zone1/host-" + name, all, "127.0.0.1", port,
        secret == null ? null : secret.getBytes(StandardCharsets.UTF_8), () -> List.of("tcp://127.0.0.1:1"),
        figures::get, TIMERS));
  }

  /// A port that is free now.
  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<String> members() {
    return membership.members().stream().map(Member::name).toList();
  }

  /// Who has a block, and on which level: `{a=0, b=1}`.
  String holders(BlockKey key) {
    return everyHolderOf(List.of(key)).getFirst();
  }

  /// The different answers for these blocks.
  List<String> everyHolderOf(List<BlockKey> keys) {
    Located located = membership.locate(keys).block();
    return IntStream.range(0, located.size()).mapToObj(i -> {
      TreeMap<String, Integer> holders = new TreeMap<>();
      located.holders(i).forEach(holder -> holders.put(located.members().get(holder.member()).name(), holder.level()));
      return holders.toString();
    }).distinct().toList();
  }

  long held(Collection<BlockKey> keys) {
    Located located = membership.locate(List.copyOf(keys)).block();
    return IntStream.range(0, located.size()).filter(located::isHeld).count();
  }

  @Override
  public void close() {
    membership.close().block();
    announcing.dispose();
  }
}

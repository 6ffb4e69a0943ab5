package io.penstock.cluster.infinispan;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.cluster.directory.AnnounceParts;
import io.penstock.cluster.directory.AnnounceTerms;
import io.penstock.cluster.directory.Announcer;
import io.penstock.cluster.directory.BlockNames;
import io.penstock.cluster.directory.Pace;
import io.penstock.cluster.directory.Rounds;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.infinispan.configuration.cache.StorageType;
import org.infinispan.container.offheap.OffHeapMemoryAllocator;
import org.infinispan.factories.ComponentRegistry;
import org.jgroups.JChannel;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// How long the members of a cluster take to announce all that they have, as after a start of all at once: members in
/// one process over the loopback, tiers that make up their keys. Over when each member has told its round whole, and
/// all names are kept: those that get lost on the way are announced again. Arguments: names (10,000,000), members (3),
/// names a second and member (10,000,000, so that the pace is no limit), most names a batch (as nodes have). `mvn -Pjmh
/// -pl rsocket-api/cluster -am verify -Djmh.main=io.penstock.cluster.infinispan.DirectoryRebuild`
public final class DirectoryRebuild {
  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final List<Level> DRAM = List.of(new Level("dram", Medium.HOST));
  private static final SpaceId SPACE = new SpaceId(1, 2);

  private static final int LOOK_MILLIS = 20;

  private DirectoryRebuild() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    long names = args.length > 0 ? Long.parseLong(args[0]) : 10_000_000;
    int members = args.length > 1 ? Integer.parseInt(args[1]) : 3;
    long pace = args.length > 2 ? Long.parseLong(args[2]) : 10_000_000;
    AnnounceTerms own = AnnounceTerms.defaults();
    int batch = args.length > 3 ? Integer.parseInt(args[3]) : own.most();
    AnnounceTerms terms =
        new AnnounceTerms(Math.min(own.batch(), batch), batch, own.linger(), own.settle(), own.retry());
    List<EmbeddedCaches> caches = join(members);
    MemberThreads threads = MemberThreads.start();
    try {
      for (int round = 0; round < 2; round++) { // the first one warms up, with a tenth of the names
        long all = round == 0 ? names / 10 : names;
        long before = offHeap(caches);
        long cpu = SYSTEM.getProcessCpuTime();
        long began = System.nanoTime();
        announce(caches, threads, all, pace, terms, round == 0 ? 1L << 40 : 0);
        double seconds = (System.nanoTime() - began) / 1e9;
        double cpuMicros = (SYSTEM.getProcessCpuTime() - cpu) / 1e3 / all;
        System.out.printf("%,d names, %d members: %.1f s, %,.0f names/s, %.2f us CPU a name, %.1f B off-heap a name%n",
            all, members, seconds, all / seconds, cpuMicros,
            (offHeap(caches) - before) / (double) all);
      }
    } finally {
      caches.reversed().forEach(EmbeddedCaches::close);
      threads.end();
    }
  }

  private static List<EmbeddedCaches> join(int members) throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    List<EmbeddedCaches> caches = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      List<Seed> seeds = i == 0 ? List.of() : List.of(new Seed("127.0.0.1", port));
      JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), i == 0 ? port : 0, seeds,
          InetAddress::getAllByName, null, ChannelTimes.DEFAULTS).channel("member" + i);
      caches.add(EmbeddedCaches.join(channel, "rebuild", "member" + i, StorageType.OFF_HEAP));
    }
    return caches;
  }

  private static long kept(List<EmbeddedCaches> caches) {
    return caches.stream().mapToLong(each -> each.blocks().getDataContainer().sizeIncludingExpired()).sum();
  }

  private static long offHeap(List<EmbeddedCaches> caches) {
    return caches.stream().mapToLong(each -> ComponentRegistry.componentOf(each.blocks(), OffHeapMemoryAllocator.class)
        .getAllocatedAmount()).sum();
  }

  /// Announces so many names, of all members at once, and waits until all are kept.
  private static void announce(List<EmbeddedCaches> caches, MemberThreads threads, long names, long pace,
      AnnounceTerms terms, long first)
      throws InterruptedException {
    long before = kept(caches);
    CountDownLatch whole = new CountDownLatch(caches.size());
    List<Disposable> announcing = new ArrayList<>();
    AtomicLong numbers = new AtomicLong(first + 1);
    BlockNames blockNames = new BlockNames(new byte[BlockNames.SECRET_BYTES]);
    for (int i = 0; i < caches.size(); i++) {
      ClusterEvents events = new ClusterEvents(() -> {}, () -> {}, () -> {});
      events.listenTo(caches.get(i));
      DistributedMap map = new DistributedMap(caches.get(i).blocks(), events.losses(), threads.waiting(),
          threads.sweeper(), Schedulers.parallel());
      Rounds rounds = new Rounds() {
        private int told;

        @Override
        public Mono<Void> tell(Object tier, long... valid) {
          return Mono.fromRunnable(() -> {
            if (++told == 2) { // the first time it begins
              whole.countDown();
            }
          });
        }
      };
      AnnounceParts parts = new AnnounceParts(map, blockNames, rounds,
          new Pace(pace, terms.batch(), Schedulers.parallel()), terms, numbers::getAndIncrement,
          Schedulers.parallel());
      long from = first + names / caches.size() * i;
      announcing.add(Mono.defer(() -> new Announcer(parts).announce(tier(from, names / caches.size())))
          .subscribeOn(threads.waiting()).subscribe());
    }
    whole.await();
    while (kept(caches) < before + names / caches.size() * caches.size()) {
      Thread.sleep(LOOK_MILLIS);
    }
    announcing.forEach(Disposable::dispose);
  }

  private static BlockTier tier(long first, long count) {
    return (BlockTier) Proxy.newProxyInstance(DirectoryRebuild.class.getClassLoader(), new Class<?>[] {BlockTier.class},
        (self, method, args) -> switch (method.getName()) {
          case "stat" -> Mono.just(new TierStat(count, count, 0, 0, 0, 0, 0, 0, 0, 1, List.of()));
          case "follow" -> events(first, count);
          default -> throw new AssertionError("an announcement asks for stat and follow alone");
        });
  }

  private static Flux<TierEvent> events(long first, long count) {
    return Flux.<TierEvent, Long>generate(() -> -1L, (at, sink) -> {
      sink.next(at < 0
          ? new TierEvent.SnapshotStarted(1, List.of())
          : at < count ? new TierEvent.Present(1, key(first + at), DRAM) : new TierEvent.SnapshotEnded(1));
      if (at == count) {
        sink.complete();
      }
      return at + 1;
    }).mergeWith(Flux.never());
  }

  /// Even names, whose high half is that of the number mixed.
  private static BlockKey key(long number) {
    long mixed = number * 0x9E3779B97F4A7C15L;
    return new BlockKey(SPACE, new BlockHash(mixed ^ (mixed >>> 31), number + 1));
  }

}

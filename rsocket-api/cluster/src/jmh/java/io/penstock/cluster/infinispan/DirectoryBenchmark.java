package io.penstock.cluster.infinispan;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.cluster.directory.BlockName;
import io.penstock.cluster.directory.BlockNames;
import io.penstock.cluster.directory.Holders;
import io.penstock.cluster.directory.KnownMembers;
import io.penstock.cluster.directory.Locate;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.infinispan.AdvancedCache;
import org.infinispan.configuration.cache.StorageType;
import org.jgroups.JChannel;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// Calls a second of the directory and of the bare cache below it, on three members of one process over the loopback:
/// the same stack, keys and sizes. The bare cache overwrites 9 bytes where the directory merges a holder into those
/// that are there. `mvn -Pjmh -pl rsocket-api/cluster -am verify -Djmh.include=Directory`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = {"-Xmx2g", "-Djava.net.preferIPv4Stack=true"})
@Threads(1)
@Warmup(iterations = 4, time = 3)
@Measurement(iterations = 6, time = 3)
public class DirectoryBenchmark {
  private static final int MEMBERS = 3;
  private static final int KEYS = 1 << 17;
  private static final long ROUND = 1;
  private static final long[] NO_FORMER = {};
  private static final byte[] VALUE = Holders.with(Holders.NONE, ROUND, 0, NO_FORMER);

  @Param({"1", "256"})
  public int batch;

  @Param({"OFF_HEAP", "HEAP"})
  public StorageType storage;

  private final List<EmbeddedCaches> caches = new ArrayList<>();
  private final MemberThreads threads = MemberThreads.start();
  private final BlockNames names = new BlockNames(new byte[BlockNames.SECRET_BYTES]);
  private final List<BlockKey> keys = new ArrayList<>();
  private DistributedMap map;
  private AdvancedCache<byte[], byte[]> cache;
  private Locate locate;
  private int at;

  @Setup
  public void setup() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    for (int i = 0; i < MEMBERS; i++) {
      List<Seed> seeds = i == 0 ? List.of() : List.of(new Seed("127.0.0.1", port));
      JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), i == 0 ? port : 0, seeds,
          InetAddress::getAllByName, null, ChannelTimes.DEFAULTS).channel("member" + i);
      caches.add(EmbeddedCaches.join(channel, "bench", "member" + i, storage));
    }
    cache = caches.getLast().blocks();
    map = new DistributedMap(cache, Flux.never(), threads.waiting(), threads.sweeper(), Schedulers.parallel());
    Member member = new Member("member", 1, List.of(), "", Member.State.UP, Member.Figures.NONE);
    KnownMembers known = new KnownMembers(List.of(member), List.of(new long[] {ROUND}));
    locate = new Locate(map, names, () -> known);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < KEYS; i++) {
      keys.add(new BlockKey(new SpaceId(1, 2), new BlockHash(random.nextLong(), random.nextLong())));
    }
    for (int i = 0; i < KEYS; i += 256) {
      map.announce(ROUND, 0, NO_FORMER, keys.subList(i, i + 256).stream().map(names::of).toList()).block();
    }
  }

  @TearDown
  public void end() {
    caches.reversed().forEach(EmbeddedCaches::close);
    threads.end();
  }

  private List<BlockKey> some() {
    at = (at + batch) % (KEYS - batch);
    return keys.subList(at, at + batch);
  }

  @Benchmark
  public void announce() {
    map.announce(ROUND, 0, NO_FORMER, some().stream().map(names::of).toList()).block();
  }

  @Benchmark
  public Located locate() {
    return locate.locate(some()).block();
  }

  @Benchmark
  public void barePut() {
    if (batch == 1) {
      cache.putAsync(name(), VALUE).join();
      return;
    }
    Map<byte[], byte[]> entries = new HashMap<>();
    for (BlockKey key : some()) {
      entries.put(names.of(key).bytes(), VALUE);
    }
    cache.putAllAsync(entries).join();
  }

  @Benchmark
  public Object bareGet() {
    if (batch == 1) {
      return cache.getAsync(name()).join();
    }
    Set<byte[]> wanted = new HashSet<>();
    for (BlockKey key : some()) {
      wanted.add(names.of(key).bytes());
    }
    return cache.getAllAsync(wanted).join();
  }

  private byte[] name() {
    BlockName name = names.of(some().getFirst());
    return name.bytes();
  }
}

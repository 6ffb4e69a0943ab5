package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.block.BlockScope;
import io.penstock.device.DeviceMemory;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.client.SideCarClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Buffers of every kind that one process shares with a node, traffic on them, and the proof that each is of use.
final class SharedBuffers implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int BYTES = 64 << 10;
  private static final int LOOPS = 3;

  private final SideCarClient client;
  private final RegionMemory first;
  private final RegionMemory second;
  private final RegionMemory file;
  private final BlockScope scope = new BlockScope();
  private final List<RegionSpec> regions = new ArrayList<>();
  private final AtomicLong copies = new AtomicLong();
  private volatile boolean running;

  /// @param name of the memfds, followed by a letter
  SharedBuffers(SideCarClient client, Path folder, String name, @Nullable AscendDevice device) throws IOException {
    this.client = client;
    this.first = RegionMemory.allocate(name + "a", BYTES);
    this.second = RegionMemory.allocate(name + "b", BYTES);
    this.file = RegionMemory.map(Files.createTempFile(folder, "shared", ""), BYTES);
    if (device != null) {
      DeviceMemory memory = requireNonNull(device.allocate(BYTES, scope).block(LIMIT));
      regions.add(new RegionSpec(4, BYTES,
          new IpcBuffer(device.physicalId(), requireNonNull(device.export(memory).block(LIMIT)))));
    }
    regions.addAll(List.of(first.region(1), second.region(2), file.region(3)));
  }

  void awaitHealthy() {
    client.health().filter(SideCarHealth::isHealthy).next().block(LIMIT);
  }

  void register() {
    regions.forEach(region -> client.register(region).block(LIMIT));
  }

  long copies() {
    return copies.get();
  }

  /// Copies at random until [#stop] or the first error, which must be that the node is gone.
  Mono<Void> traffic(long seed) {
    running = true;
    return Flux.range(0, LOOPS).flatMap(loop -> traffic(new Random(seed + loop))).then();
  }

  private Mono<Void> traffic(Random random) {
    return Mono.defer(() -> {
      long from = 1L + random.nextInt(regions.size());
      long to = 1L + random.nextInt(regions.size());
      int offset = random.nextInt(BYTES / 2);
      return client.copy(List.of(new RegionCopy(from, offset, to, BYTES / 2 - offset, 1 + random.nextInt(BYTES / 2))));
    }).doOnSuccess(nothing -> copies.incrementAndGet()).repeat(() -> running).then()
        .onErrorResume(KvException.class,
            e -> ((SideCarFailure) e).code() == SideCarCode.DOWN ? Mono.empty() : Mono.error(e));
  }

  void stop() {
    running = false;
  }

  /// Has bytes go through every buffer, and compares them.
  void requireUsable(long seed) {
    byte[] bytes = new byte[BYTES];
    new Random(seed).nextBytes(bytes);
    first.memory().copyFrom(MemorySegment.ofArray(bytes));
    regions.stream().map(RegionSpec::id).filter(id -> id > 2).forEach(through -> {
      second.memory().fill((byte) 0);
      copy(1, through);
      copy(through, 2);
      if (second.memory().mismatch(MemorySegment.ofArray(bytes)) != -1) {
        throw new AssertionError(
            "bytes that went through region " + through + " must be what they were (were not), seed " + seed);
      }
    });
  }

  private void copy(long from, long to) {
    client.copy(List.of(new RegionCopy(from, 0, to, 0, BYTES))).block(LIMIT);
  }

  @Override
  public void close() {
    first.close();
    second.close();
    file.close();
    scope.close();
  }
}

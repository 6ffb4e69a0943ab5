package io.penstock.lab.bench.wire;

import io.penstock.lab.bench.side.Installed;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.node.cli.Console;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/// A Redis server of this machine under the same reads: blocks under names, a batch of them in a pipeline, a connection
/// for each request that may be under way.
final class RedisPeer implements Peer {
  private static final String SERVER = "redis-server";
  private static final int TRIES = 100;
  private static final long RETRY_MILLIS = 50;
  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final InetSocketAddress address;
  private final @Nullable Process process;

  /// @param process ended by [#close]; null for a server of another owner
  RedisPeer(InetSocketAddress address, @Nullable Process process) {
    this.address = address;
    this.process = process;
  }

  /// Null, and a line that says so, where no server is installed.
  static @Nullable RedisPeer startIfInstalled(Console console) throws IOException {
    Path server = Installed.program(SERVER, "--peer redis: skipped", console);
    if (server == null) {
      return null;
    }
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Process process = new ProcessBuilder(server.toString(), "--port", "" + port, "--bind", "127.0.0.1", "--save", "",
        "--appendonly", "no").redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD).start();
    RedisPeer peer = new RedisPeer(new InetSocketAddress("127.0.0.1", port), process);
    try {
      peer.awaitReady();
      return peer;
    } catch (IOException e) {
      peer.close();
      throw e;
    }
  }

  private void awaitReady() throws IOException {
    for (int left = TRIES; left > 0; left--) {
      try (RedisConnection connection = new RedisConnection(address)) {
        connection.ping();
        return;
      } catch (IOException e) {
        if (left == 1) {
          throw e;
        }
        sleep();
      }
    }
  }

  private static void sleep() throws IOException {
    try {
      Thread.sleep(RETRY_MILLIS);
    } catch (InterruptedException e) {
      throw new IOException("a benchmark must not be interrupted", e);
    }
  }

  @Override
  public String label() {
    return "redis";
  }

  @Override
  public Load load(int blockBytes, int batch, SideSetting setting) {
    int blocks = Math.max(batch, (int) (setting.sourceBytes() / blockBytes / batch) * batch);
    try {
      List<RedisConnection> connections = new ArrayList<>();
      for (int i = 0; i < setting.threads(); i++) {
        connections.add(new RedisConnection(address));
      }
      connections.getFirst().flush();
      connections.getFirst().fill(blocks, blockBytes);
      return new RedisLoad(connections, process, blocks, blockBytes, batch);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.destroy();
      process.onExit().join();
    }
  }

  /// @param process of the server; null for a server of another owner
  private record RedisLoad(List<RedisConnection> connections, @Nullable Process process, int blocks, int blockBytes,
      int batch) implements Load {
    @Override
    public Done run(long nanos) {
      AtomicLong bytes = new AtomicLong();
      AtomicLong next = new AtomicLong();
      Histogram latencies = new ConcurrentHistogram(MOST_NANOS, 3);
      long cpuBefore = cpuNanos();
      long began = System.nanoTime();
      try (ExecutorService threads = Executors.newFixedThreadPool(connections.size())) {
        List<Callable<Void>> all = new ArrayList<>();
        for (RedisConnection connection : connections) {
          all.add(() -> {
            for (long at = System.nanoTime(); at - began < nanos; at = System.nanoTime()) {
              int first = (int) (next.getAndAdd(batch) % blocks);
              bytes.addAndGet(connection.get(first, batch, blockBytes));
              latencies.recordValue(Math.min(System.nanoTime() - at, MOST_NANOS));
            }
            return null;
          });
        }
        for (Future<Void> done : threads.invokeAll(all)) {
          done.get();
        }
      } catch (ExecutionException | InterruptedException e) {
        throw new IllegalStateException("the reads of redis must succeed", e);
      }
      return new Done(bytes.get(), System.nanoTime() - began, latencies, cpuNanos() - cpuBefore);
    }

    private long cpuNanos() {
      return process == null ? 0 : process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
    }

    @Override
    public void close() {
      connections.forEach(RedisConnection::close);
    }
  }
}

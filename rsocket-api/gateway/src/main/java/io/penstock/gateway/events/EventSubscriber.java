package io.penstock.gateway.events;

import io.penstock.check.Checks;
import io.penstock.gateway.choice.BlockIndex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import reactor.core.publisher.Mono;
import zmq.ZError;

/// Subscribes to the KV events of instances, and keeps a [BlockIndex] by them. A publisher may be an engine (vLLM,
/// SGLang and others of the same form) or a node of this project.
///
/// An instance that is not there yet, or is gone for a time, is connected to as soon as it is there.
///
/// - Threads: one of its own for all sockets; its methods may be called by any.
/// - Backpressure: a publisher that sends faster than events are read fills its socket's queue, misses messages, and
///   has them replayed.
/// - Errors: a message that cannot be read is counted, and named once for each publisher.
public final class EventSubscriber {
  private static final Logger LOG = LoggerFactory.getLogger(EventSubscriber.class);
  private static final String WAKE = "inproc://wake";
  private static final int TICK_MILLIS = 100;

  private final BlockIndex index;
  private final EventOptions options;
  private final LongSupplier nanos;
  private final ZMQ.Context context = ZMQ.context(1);
  private final ZMQ.Socket woken = context.socket(SocketType.PULL);
  private final Object wakeLock = new Object();
  private final ZMQ.Socket wake = context.socket(SocketType.PUSH); // under wakeLock
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Map<Integer, Map<EventSource, EventCounts>> counts = new ConcurrentHashMap<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  // Of the thread of the sockets
  private final ZMQ.Poller poller = context.poller(8);
  private final Map<Integer, Publishers> followed = new HashMap<>();
  private long made;
  private volatile boolean stopped;

  /// An instance with its publishers.
  private record Publishers(InstanceBlocks blocks, List<PublisherSockets> sockets) {}

  private EventSubscriber(BlockIndex index, EventOptions options, LongSupplier nanos) {
    this.index = index;
    this.options = options;
    this.nanos = nanos;
    woken.bind(WAKE);
    wake.setLinger(0);
    wake.connect(WAKE);
    poller.register(woken, ZMQ.Poller.POLLIN);
  }

  /// Starts the thread of the sockets.
  ///
  /// @param nanos clock of replays
  public static EventSubscriber start(BlockIndex index, EventOptions options, LongSupplier nanos) {
    EventSubscriber subscriber = new EventSubscriber(index, options, nanos);
    Thread.ofPlatform().daemon().name("penstock-gateway-events").start(subscriber::run);
    return subscriber;
  }

  /// Follows the events of an instance.
  ///
  /// @param instance its number in the index
  /// @param source one publisher of the instance, see [EventSource#ofRank] for one with several
  /// @return counts of what the publisher sends
  /// @throws IllegalStateException if the publisher is followed for this instance already
  public EventCounts follow(int instance, EventSource source) {
    Checks.within("instance", instance, BlockIndex.MOST_INSTANCES);
    EventCounts count = new EventCounts();
    if (counts.computeIfAbsent(instance, key -> new ConcurrentHashMap<>()).putIfAbsent(source, count) != null) {
      throw new IllegalStateException("events of " + source + " are followed for instance " + instance + " already");
    }
    command(() -> {
      Publishers all = followed.computeIfAbsent(instance,
          number -> new Publishers(new InstanceBlocks(index, number), new ArrayList<>()));
      PublisherBlocks blocks = new PublisherBlocks(all.blocks(), count, options.blockTokens(), options.blocks(),
          source.countsCopies());
      all.sockets().add(new PublisherSockets(context, poller, source, options, made++,
          replay -> new PublisherFeed(source.toString(), blocks, count, replay, nanos, options.replayPatience(),
              options.idle())));
    });
    return count;
  }

  /// Follows an instance no longer. Completes when its events no longer change the index, and its blocks are out of it:
  /// its number may be used for another instance from then on.
  public Mono<Void> unfollow(int instance) {
    return Mono.defer(() -> {
      CompletableFuture<Void> done = new CompletableFuture<>();
      command(() -> {
        counts.remove(instance);
        Publishers gone = followed.remove(instance);
        if (gone != null) {
          gone.sockets().forEach(PublisherSockets::close);
        }
        done.complete(null);
      });
      return Mono.fromFuture(CompletableFuture.anyOf(done, ended).thenAccept(any -> {}), true);
    });
  }

  /// Counts by publisher of an instance; empty if it is not followed.
  public Map<EventSource, EventCounts> counts(int instance) {
    return Map.copyOf(counts.getOrDefault(instance, Map.of()));
  }

  /// Ends the thread and the sockets. The blocks of the instances leave the index. Lazy, idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      command(() -> stopped = true);
      return Mono.fromFuture(ended, true);
    });
  }

  private void command(Runnable command) {
    commands.add(command);
    synchronized (wakeLock) {
      if (!ended.isDone()) {
        wake.send(new byte[0], ZMQ.DONTWAIT);
      }
    }
  }

  private void run() {
    try {
      while (!stopped) {
        poller.poll(TICK_MILLIS);
        while (woken.recv(ZMQ.DONTWAIT) != null) {
          // one for each command
        }
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
          run(command);
        }
        for (Publishers each : followed.values()) {
          each.sockets().forEach(this::read);
        }
      }
    } finally {
      end();
    }
  }

  private static void run(Runnable command) {
    try {
      command.run();
    } catch (RuntimeException e) {
      LOG.error("Events of an instance are not followed", e);
    }
  }

  private void read(PublisherSockets publisher) {
    try {
      publisher.read();
    } catch (ZMQException e) {
      if (e.getErrorCode() == ZError.ETERM) {
        throw e;
      }
      LOG.warn("KV events could not be read", e);
    }
  }

  private void end() {
    for (Publishers each : followed.values()) {
      each.sockets().forEach(PublisherSockets::close);
    }
    poller.close();
    woken.close();
    synchronized (wakeLock) {
      wake.close();
      ended.complete(null);
    }
    context.close();
  }
}

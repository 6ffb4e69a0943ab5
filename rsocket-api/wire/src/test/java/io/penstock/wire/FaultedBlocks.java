package io.penstock.wire;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A get and a put of a few hundred KiB on one connection through a proxy.
///
/// A flipped bit may turn a request into a frame that RSocket drops without a word, on a connection that lives on: the
/// client's limit for answers ends the item.
final class FaultedBlocks implements FaultCase {
  private static final int READ = 4;
  private static final int WRITTEN = 3;

  private final FaultProxy proxy;
  private final FaultPlan plan;
  private final FaultClient client;
  private final List<BlockKey> wanted;
  private final List<BlockKey> fresh;
  private final OnceEnded<KvClient> connecting = new OnceEnded<>();
  private final OnceEnded<BlockKey> get = new OnceEnded<>();
  private final OnceEnded<Receipt> put = new OnceEnded<>();
  private final List<FaultProxy> waiting = new ArrayList<>();

  /// @param number differs from that of every other case whose blocks the node still has
  /// @param from number of the first block to get
  FaultedBlocks(FaultNode node, long number, FaultPlan plan, int from) {
    this.plan = plan;
    this.proxy = new FaultProxy(node.ends(), node.port(), List.of(plan), false);
    this.client = new FaultClient(node, proxy.port(), number % 2 == 0 ? FaultRound.WINDOW / 2 : FaultRound.WINDOW);
    this.wanted = Blocks.keys(FaultRound.SPACE, from, from + READ);
    this.fresh = Blocks.keys(FaultRound.SPACE, 1000 + number * WRITTEN, 1000 + (number + 1) * WRITTEN);
  }

  static int mostFrom() {
    return FaultNode.STORED - READ;
  }

  @Override
  public int items() {
    return 2;
  }

  /// What waits at this connection goes on when the items of `other` have ended.
  void follow(FaultedBlocks other) {
    other.waiting.add(proxy);
  }

  @Override
  public CompletableFuture<Void> run(AtomicInteger ended) {
    client.connecting().subscribe(connecting);
    return connecting.ended().thenCompose(connected -> {
      if (connected.values().isEmpty()) {
        ended.addAndGet(items());
        return CompletableFuture.completedFuture(null);
      }
      client.read(wanted).doFinally(end -> ended.incrementAndGet()).subscribe(get);
      client.connected().put(fresh, client.source()).doFinally(end -> ended.incrementAndGet()).subscribe(put);
      return CompletableFuture.allOf(get.ended(), put.ended());
    }).thenRun(() -> waiting.forEach(FaultProxy::overtake));
  }

  @Override
  public long moved() {
    return proxy.moved();
  }

  @Override
  public List<FaultPlan> fired() {
    return proxy.fired();
  }

  @Override
  public void endCaller() {
    client.close();
  }

  @Override
  public List<BlockKey> acknowledged() {
    return put.values().stream().map(Receipt::key).toList();
  }

  @Override
  public void check(boolean restarted, FaultTally tally) {
    connecting.requireOneEnd();
    check("connect", connecting, connecting.values().size() == 1, restarted, tally);
    if (connecting.values().size() == 1) {
      get.requireOneEnd();
      put.requireOneEnd();
      check("get", get, get.values().equals(wanted), restarted, tally);
      check("put", put, acknowledged().equals(fresh), restarted, tally);
      tally.compared((long) get.values().size() * FaultRound.SPACE.layout().blockBytes());
    }
  }

  private void check(String item, OnceEnded<?> ended, boolean whole, boolean restarted, FaultTally tally) {
    Throwable error = ended.error();
    FaultPlan.Kind fault = fired().isEmpty() ? FaultPlan.Kind.NONE : plan.kind();
    String happened = fault == FaultPlan.Kind.NONE && restarted ? "RESTART" : "" + fault;
    String end = end(error, whole);
    tally.ended(happened + " " + item + " " + end);
    if (!fits(fault, error, whole, restarted)) {
      throw new AssertionError(item + " must not end " + end + " after " + happened + ": " + this, error);
    }
  }

  private static String end(@Nullable Throwable error, boolean whole) {
    if (error != null) {
      return error.getClass().getSimpleName();
    }
    return whole ? "whole" : "not whole";
  }

  private static boolean fits(FaultPlan.Kind fault, @Nullable Throwable error, boolean whole, boolean restarted) {
    if (error == null && whole) {
      return true;
    }
    if (fault == FaultPlan.Kind.CORRUPT) {
      return error == null || error instanceof KvException;
    }
    if (error == null) {
      return restarted; // the blocks are gone
    }
    return switch (error) {
      case ConnectionLostException lost -> !fault.isHarmless() || restarted;
      case AnswerTimeoutException late -> fault.isSilent();
      case DrainingException draining -> restarted;
      default -> false;
    };
  }

  @Override
  public void endConnections() {
    proxy.close();
  }

  @Override
  public String toString() {
    return "get and put, " + plan;
  }
}

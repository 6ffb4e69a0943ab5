package io.penstock.wire.server.call;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.Routes;
import io.rsocket.Payload;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/// A running request: its message until it was read, and its charge for the heap that its keys take.
///
/// The charge is the length of the message. Its keys stay packed while it runs, 16 bytes each; a key that is awaited
/// takes some 250 bytes more. So a node that allows its requests 1/256 of its heap in messages gives them about a
/// sixteenth of the heap at worst. Ended by [#close], from any thread; a message that is being read is released by its
/// reader.
public final class Request implements AutoCloseable {
  /// A longer message is read, and its keys decided on, away from the event loop.
  private static final int LIGHT_BYTES = 1 << 14;

  private enum State {
    WAITING, READING, READ, CLOSED_MEANWHILE, CLOSED
  }

  private final Payload payload;
  private final Budget budget;
  private final int bytes;
  private final Set<Request> running;
  private final RequestRights rights;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

  private Request(Payload payload, Budget budget, int bytes, Set<Request> running, RequestRights rights) {
    this.payload = payload;
    this.rights = rights;
    this.budget = budget;
    this.bytes = bytes;
    this.running = running;
  }

  /// Takes `payload` over and charges it.
  ///
  /// @param running has it until it is closed
  /// @param rights has those under which it runs, as soon as they were looked up
  /// @throws BudgetExhaustedException if the requests that run leave no room; `payload` is released then
  static Request charged(Payload payload, Budget budget, Set<Request> running, RequestRights rights) {
    int bytes = bytes(payload);
    if (!tryCharge(budget, bytes) && !(budget.reclaim(2L * bytes) && tryCharge(budget, bytes))) {
      payload.release();
      throw new BudgetExhaustedException("messages of requests that run", bytes, budget.free(), 0);
    }
    Request request = new Request(payload, budget, bytes, running, rights);
    running.add(request);
    return request;
  }

  /// The first request leaves as much as it takes, too.
  private static boolean tryCharge(Budget budget, int bytes) {
    return budget.free() >= 2L * bytes && budget.tryAcquire(bytes);
  }

  boolean isHeavy() {
    return bytes > LIGHT_BYTES;
  }

  public static boolean isHeavy(Payload payload) {
    return bytes(payload) > LIGHT_BYTES;
  }

  private static int bytes(Payload payload) {
    return Math.max(1, payload.sliceData().readableBytes() + payload.sliceMetadata().readableBytes());
  }

  /// Lets `route` read the message, once, then releases it: a long stream does not keep its buffer.
  <T> T route(String dataMimeType, ByteBufAllocator allocator, Function<Call, T> route) {
    if (!state.compareAndSet(State.WAITING, State.READING)) {
      throw new CancellationException("request ended before it was read");
    }
    boolean endless = false;
    try {
      Call call = Call.read(payload, dataMimeType, allocator, rights);
      endless = Routes.hasNoKeys(call.route());
      return route.apply(call);
    } finally {
      payload.release();
      if (!state.compareAndSet(State.READING, State.READ) || endless) {
        end();
      }
    }
  }

  @Override
  public void close() {
    if (state.compareAndSet(State.WAITING, State.CLOSED)) {
      payload.release();
      giveBack();
    } else if (!state.compareAndSet(State.READING, State.CLOSED_MEANWHILE)) {
      end();
    }
  }

  private void end() {
    if (state.getAndSet(State.CLOSED) != State.CLOSED) {
      giveBack();
    }
  }

  private void giveBack() {
    running.remove(this);
    budget.release(bytes);
  }
}

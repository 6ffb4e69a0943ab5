package io.penstock.wire.transfer;

import io.penstock.TransientKvException;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.operator.Failures;
import io.penstock.operator.Serial;
import io.penstock.wire.trace.TraceContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// One destination: its queue, its lane, its connection and the description of its segments.
///
/// Items wait in order until the lane has room for them. Items in the lane wait for the connection, which is opened
/// when the first one needs it, and closed when none does for some time. An item whose attempt failed with a transient
/// error is tried once more, after the peer was described again. All state is touched by [#steps] only.
final class Peer {
  private static final Logger LOG = LoggerFactory.getLogger(Peer.class);
  /// Maximum number of items of an operation.
  private static final int MOST_GROUPED = 256;
  /// The lane counts in parts of a place, so that a group of small items takes one place together.
  private static final int PLACE = MOST_GROUPED;

  /// Settings that all peers of an engine share.
  ///
  /// @param engine its number, sent to peers
  /// @param backoff draws the wait before a second attempt
  /// @param gone receives a peer without work and without a connection
  record Setting(TransferOptions options, SegmentLink.Connector connector, long engine, Scheduler timers,
      Supplier<Duration> backoff, TransferListener listener, Consumer<Peer> gone) {}

  private final String address;
  private final Setting setting;
  private final Serial steps = new Serial();
  private final AtomicInteger unended = new AtomicInteger();
  private final ArrayDeque<Work> queue = new ArrayDeque<>();
  private final Set<Work> lane = new LinkedHashSet<>();
  /// Items of the lane that wait for the connection or for descriptors.
  private final Set<Work> waiting = new LinkedHashSet<>();
  private final List<MonoSink<SegmentRegistry.Snapshot>> askers = new ArrayList<>();
  private final List<Runnable> closing = new ArrayList<>(0);
  private volatile long laneBytes; // written by steps
  private volatile int laneItems;
  private long lanePlace;
  private boolean pumping;
  private @Nullable SegmentLink link;
  private SegmentRegistry.@Nullable Snapshot known;
  private long described;
  /// Null while neither a connection nor descriptors are under way.
  private @Nullable Attempt opening;
  private Disposable idle = Disposables.disposed();
  private boolean closed;

  Peer(String address, Setting setting) {
    this.address = address;
    this.setting = setting;
  }

  String address() {
    return address;
  }

  /// A way to the peer that is under way.
  private static final class Attempt {
    private final Disposable.Swap timer = Disposables.swap();
    private final long began = System.nanoTime();
    private @Nullable SegmentLink made;
    private boolean over;
  }

  /// Takes places for `items` that have not ended.
  ///
  /// @throws BudgetExhaustedException if there are too many
  void admit(int items) {
    int most = setting.options().queuedItems();
    int now = unended.addAndGet(items);
    if (now > most) {
      unended.addAndGet(-items);
      throw new BudgetExhaustedException("transfer queue of " + address, items, most - (now - items), most);
    }
  }

  /// Gives a place back.
  void ended(int items) {
    if (unended.addAndGet(-items) == 0) {
      releaseIfUnused(); // the connection may have been lost before
    }
  }

  void submit(List<Work> works) {
    steps.run(() -> {
      queue.addAll(works);
      pump();
    });
  }

  /// An item ended outside of its operation: its place in the lane is free.
  void left(Work work, @Nullable TransferFailure why) {
    steps.run(() -> {
      work.report(why);
      leave(work);
    });
  }

  /// Stops the operation of `work`, which ends it. One whose memory does not become quiet loses its connection.
  void abort(Work work) {
    steps.run(() -> {
      SegmentLink.Operation operation = work.operation;
      SegmentLink used = work.link;
      if (operation == null || used == null) {
        return;
      }
      operation.abort();
      if (operation.equals(work.operation)) {
        work.timer.update(later(setting.options().quietTimeout(), () -> {
          if (operation.equals(work.operation)) {
            lose(used, new TransientKvException("memory of a stopped item must become quiet within "
                + setting.options().quietTimeout() + " (was in use)"));
          }
        }));
      }
    });
  }

  /// The segments of the peer, asked for now.
  Mono<SegmentRegistry.Snapshot> describe() {
    return Mono.create(sink -> steps.run(() -> {
      if (closed) {
        sink.error(new TransferEngine.EngineClosedException());
      } else {
        askers.add(sink);
        open();
      }
    }));
  }

  /// Gives the connection up once no item is left; the engine has stopped them.
  Mono<Void> close() {
    return Mono.create(sink -> steps.run(() -> {
      closed = true;
      closing.add(sink::success);
      closeIfIdle();
    }));
  }

  private void pump() {
    pumping = false;
    List<Work> entered = new ArrayList<>();
    while (hasRoom()) {
      Work work = queue.remove();
      if (work.life.enter()) {
        work.place = place(work);
        lane.add(work);
        counted(work.bytes);
        lanePlace += work.place;
        entered.add(work);
      }
    }
    startAll(entered);
    closeIfIdle();
    watchIdle();
    leaveIfUnused();
  }

  /// A peer without work and connection has nothing that a new one would lack.
  private void leaveIfUnused() {
    if (link == null && isIdle()) {
      setting.gone().accept(this);
    }
  }

  void releaseIfUnused() {
    steps.run(this::leaveIfUnused);
  }

  /// Whether no item has a place here, and no question.
  boolean isUnused() {
    return unended.get() == 0;
  }

  private boolean hasRoom() {
    Work next = queue.peek();
    return next != null && (lane.isEmpty() || (lanePlace + place(next) <= (long) setting.options().laneItems() * PLACE
        && laneBytes + next.bytes <= setting.options().laneBytes()));
  }

  private void counted(long bytes) {
    long before = laneBytes;
    laneBytes = before + bytes;
    laneItems = lane.size();
  }

  int laneItems() {
    return laneItems;
  }

  long laneBytes() {
    return laneBytes;
  }

  /// Items in the lane and in the queue.
  int unended() {
    return unended.get();
  }

  /// Share of the lane that an item takes: a whole place, or less if it is grouped with others.
  private int place(Work work) {
    long group = link == null ? 0 : link.groupBytes();
    return isSmall(work, group) ? (int) Math.max(PLACE / MOST_GROUPED, work.bytes * PLACE / group) : PLACE;
  }

  private static boolean isSmall(Work work, long group) {
    return work.isItem() && !work.alone && 2 * work.bytes <= group;
  }

  private void leave(Work work) {
    waiting.remove(work);
    if (lane.remove(work)) {
      counted(-work.bytes);
      lanePlace -= work.place;
    }
    work.timer.dispose();
    pumpSoon();
  }

  /// One step fills the lane after all places that one step freed, so that small items come together.
  private void pumpSoon() {
    if (!pumping) {
      pumping = true;
      steps.run(this::pump);
    }
  }

  private void start(Work work) {
    startAll(List.of(work));
  }

  /// Begins `works`, small ones of one direction together.
  private void startAll(List<Work> works) {
    loseIfOver();
    SegmentLink to = link;
    SegmentRegistry.Snapshot segments = known;
    List<Work> group = new ArrayList<>();
    long bytes = 0;
    for (Work work : works) {
      boolean stale = work.attempt > 1 && work.described == described;
      if (to == null || segments == null || stale) {
        await(work);
        continue;
      }
      boolean joins = isSmall(work, to.groupBytes()) && !group.isEmpty() && group.size() < MOST_GROUPED
          && bytes + work.bytes <= to.groupBytes() && work.isLike(group.getFirst());
      if (!joins) {
        begin(group, to, segments);
        group = new ArrayList<>();
        bytes = 0;
      }
      group.add(work);
      bytes += work.bytes;
    }
    if (to != null && segments != null) {
      begin(group, to, segments);
    }
  }

  /// Makes `work` wait for the connection, or for descriptors.
  private void await(Work work) {
    work.clock.waits();
    waiting.add(work);
    open();
  }

  private void begin(List<Work> works, SegmentLink to, SegmentRegistry.Snapshot segments) {
    List<Work> begun = works.stream().filter(work -> begins(work, segments)).toList();
    if (begun.isEmpty()) {
      return;
    }
    Group group = new Group(begun, to);
    for (Work work : begun) {
      work.clock.starts(to);
      work.link = to;
      work.lost = null;
      work.operation = group;
    }
    try {
      group.begun(Work.begin(begun, to, segments, group));
    } catch (RuntimeException | Error e) {
      group.ended(Failures.passable(e));
    }
  }

  private boolean begins(Work work, SegmentRegistry.Snapshot segments) {
    work.described = described;
    try {
      work.requireIn(segments);
    } catch (RuntimeException | Error e) {
      failed(work, Failures.passable(e), false);
      return false;
    }
    if (!work.life.start()) {
      leave(work);
      return false;
    }
    return true;
  }

  /// An operation of one item, or of several small ones, and its end, which may come before the operation is known.
  private final class Group implements SegmentLink.Operation, SegmentLink.Ending {
    private final List<Work> works;
    private final SegmentLink link;
    private SegmentLink.@Nullable Operation operation;

    Group(List<Work> works, SegmentLink link) {
      this.works = works;
      this.link = link;
    }

    void begun(SegmentLink.Operation begun) {
      operation = begun;
    }

    @Override
    public void abort() {
      if (operation != null) {
        operation.abort();
      }
    }

    @Override
    public @Nullable TraceContext trace() {
      return works.getFirst().transfer.trace();
    }

    @Override
    public long sharedBytes() {
      return operation == null ? 0 : operation.sharedBytes();
    }

    private void tellCarried() {
      TransferBatch.Direction direction = works.getFirst().direction();
      if (direction != null) {
        setting.listener().carried(address, link.transport(), direction,
            works.stream().mapToLong(work -> work.bytes).sum(), sharedBytes());
      }
    }

    @Override
    public long verifyNanos() {
      return operation == null ? 0 : operation.verifyNanos();
    }

    @Override
    public void ended(@Nullable Throwable error) {
      steps.run(() -> {
        if (error == null) {
          tellCarried();
        }
        for (Work work : works) {
          if (work.operation == this) {
            work.operation = null;
            work.clock.verified(verifyNanos());
            operationEnded(work, error, works.size() > 1);
          }
        }
      });
    }
  }

  private void operationEnded(Work work, @Nullable Throwable error, boolean grouped) {
    work.link = null;
    work.timer.update(Disposables.disposed());
    if (error == null) {
      end(work, null);
    } else {
      failed(work, work.lost == null ? error : work.lost, grouped);
    }
  }

  /// @param grouped whether the error may be that of another item: then `work` begins once more, alone
  private void failed(Work work, Throwable error, boolean grouped) {
    boolean othersMayBe = grouped && !(error instanceof TransientKvException);
    work.alone |= grouped;
    if (othersMayBe && work.life.again()) {
      start(work);
    } else if (!othersMayBe && work.attempt == 1 && work.mayPass(error) && work.life.again()) {
      work.attempt = 2;
      setting.listener().retried(address, error);
      work.timer.update(later(setting.backoff().get(), () -> start(work)));
    } else {
      end(work, error);
    }
  }

  private void end(Work work, @Nullable Throwable error) {
    TransferState end = work.life.end(error == null);
    if (end != null) {
      work.report(TransferFailure.of(end, error, error != null && error.equals(work.lost)));
      work.transfer.ended(work, end, error);
    }
    leave(work);
  }

  // --- the connection

  private void open() {
    loseIfOver();
    if (opening != null) {
      return;
    }
    idle.dispose();
    Attempt attempt = new Attempt();
    opening = attempt;
    attempt.timer.update(later(setting.options().connectTimeout(),
        () -> notOpened(attempt, new TransientKvException(
            "peer %s must answer within %s (was silent)".formatted(address, setting.options().connectTimeout())))));
    SegmentLink open = link;
    if (open != null) {
      describe(attempt, open);
      return;
    }
    try {
      setting.connector().connect(address, setting.engine()).subscribe(
          made -> steps.run(() -> connected(attempt, made)),
          error -> steps.run(() -> notOpened(attempt, error)));
    } catch (RuntimeException | Error e) { // an address that the transport cannot read
      steps.run(() -> notOpened(attempt, Failures.passable(e)));
    }
  }

  private void connected(Attempt attempt, SegmentLink made) {
    if (attempt.over) {
      made.close();
      return;
    }
    link = made;
    attempt.made = made;
    made.onClose().subscribe(nothing -> {}, error -> steps.run(() -> lose(made, error)),
        () -> steps.run(() -> lose(made, closed())));
    describe(attempt, made);
  }

  private void describe(Attempt attempt, SegmentLink of) {
    of.describe().subscribe(segments -> steps.run(() -> opened(attempt, segments)),
        error -> steps.run(() -> notOpened(attempt, error)));
  }

  private boolean over(Attempt attempt) {
    if (attempt.over) {
      return true;
    }
    attempt.over = true;
    attempt.timer.dispose();
    opening = null;
    return false;
  }

  private void opened(Attempt attempt, SegmentRegistry.Snapshot segments) {
    if (over(attempt)) {
      return;
    }
    if (attempt.made != null) {
      setting.listener().connected(address, attempt.made.transport(), System.nanoTime() - attempt.began);
    }
    known = segments;
    described++;
    List<MonoSink<SegmentRegistry.Snapshot>> told = List.copyOf(askers);
    askers.clear();
    told.forEach(asker -> asker.success(segments));
    List<Work> ready = List.copyOf(waiting);
    waiting.clear();
    startAll(ready);
    pump();
  }

  private void notOpened(Attempt attempt, Throwable error) {
    if (over(attempt)) {
      return;
    }
    LOG.warn("peer {} cannot be reached for {} items and {} questions: {}", address, waiting.size(), askers.size(),
        error.getMessage());
    setting.listener().unreachable(address, error);
    SegmentLink half = link;
    if (half != null) {
      drop(half, error);
    }
    refuse(error);
  }

  private void refuse(Throwable error) {
    List<MonoSink<SegmentRegistry.Snapshot>> told = List.copyOf(askers);
    askers.clear();
    told.forEach(asker -> asker.error(error));
    List<Work> works = List.copyOf(waiting);
    waiting.clear();
    for (Work work : works) {
      work.lost = error;
      failed(work, error, false);
    }
    pump();
  }

  private TransientKvException closed() {
    return new TransientKvException("connection to " + address + " was closed");
  }

  /// An item may learn that the connection is gone before the connection reports it. Its second attempt must not be
  /// spent on it.
  private void loseIfOver() {
    SegmentLink open = link;
    if (open != null && open.isOver()) {
      lose(open, closed());
    }
  }

  /// Ends a connection: its items in progress fail, each once.
  private void lose(SegmentLink gone, Throwable cause) {
    if (!gone.equals(link)) {
      return;
    }
    long inProgress = lane.stream().filter(work -> gone.equals(work.link)).count();
    if (inProgress > 0 || opening != null) {
      LOG.warn("connection to {} is lost with {} items in progress: {}", address, inProgress, cause.getMessage());
    }
    drop(gone, cause);
    Attempt attempt = opening;
    if (attempt != null && !over(attempt)) {
      refuse(cause);
    } else {
      pumpSoon();
    }
  }

  private void drop(SegmentLink gone, Throwable cause) {
    link = null;
    known = null;
    gone.close();
    setting.listener().disconnected(address, gone.transport(), TransferListener.Cause.LOST);
    for (Work work : List.copyOf(lane)) {
      SegmentLink.Operation operation = work.operation;
      if (gone.equals(work.link) && operation != null) {
        work.lost = cause;
        operation.abort();
      }
    }
  }

  private void watchIdle() {
    if (link == null || !isIdle()) {
      idle.dispose();
    } else if (idle.isDisposed()) {
      idle = later(setting.options().idleTimeout(), () -> {
        if (isIdle()) {
          giveUp();
        }
      });
    }
  }

  private boolean isIdle() {
    return lane.isEmpty() && queue.isEmpty() && opening == null;
  }

  private void giveUp() {
    idle.dispose();
    SegmentLink unused = link;
    if (unused != null) {
      link = null;
      known = null;
      unused.close();
      setting.listener().disconnected(address, unused.transport(),
          closed ? TransferListener.Cause.CLOSED : TransferListener.Cause.IDLE);
      leaveIfUnused();
    }
  }

  private void closeIfIdle() {
    if (closed && lane.isEmpty() && queue.isEmpty() && !closing.isEmpty()) {
      Attempt attempt = opening;
      if (attempt != null && !over(attempt)) {
        refuse(new TransferEngine.EngineClosedException());
      }
      giveUp();
      List<Runnable> told = List.copyOf(closing);
      closing.clear();
      told.forEach(Runnable::run);
    }
  }

  private Disposable later(Duration delay, Runnable step) {
    return setting.timers().schedule(() -> steps.run(step), delay.toNanos(), TimeUnit.NANOSECONDS);
  }
}

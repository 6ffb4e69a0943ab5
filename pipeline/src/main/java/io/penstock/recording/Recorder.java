package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent.Kind;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Records the signals of named flows: `flux.transform(recorder.named("load"))`.
///
/// | | |
/// |---|---|
/// | shape | passes on what its source sends; a `Mono` stays a `Mono` |
/// | records | each subscription, demand, element, cancel and end, with the time of the recording's clock |
/// | backpressure | that of the reader; prefetch 0. A full recording that waits for its disk withholds demand |
/// | holds | nothing: an element is described while it passes ([ElementType]); its bytes are not read |
/// | threads | any; an event is added under a lock that is held for a moment, and never waits for a disk |
/// | cancel | recorded when it has returned: one element of another thread may follow in the recording |
/// | signals | those of the source |
///
/// Fusion ends here: the operators before and after it pass elements one by one.
public final class Recorder {
  private final Turns turns;

  /// @param turns the order of all that is recorded
  public Recorder(Turns turns) {
    this.turns = requireNonNull(turns, "turns");
  }

  /// Records each subscription to a flow.
  ///
  /// @param name of the flow, equal for all of its subscriptions
  public <T> Function<Publisher<T>, Publisher<T>> named(String name) {
    return named(name, 0);
  }

  /// Records each subscription to a flow that comes over a link.
  ///
  /// @param link number of the link in the recording
  public <T> Function<Publisher<T>, Publisher<T>> named(String name, long link) {
    return named(name, link, ElementWords::of);
  }

  /// Records each subscription to a flow whose elements are of a type of your own.
  ///
  /// @param words what a recording says of an element, at most 200 characters; called once for each element, on the
  ///     thread that sends it. A recording may leave the process, so words must hold no secret.
  public <T> Function<Publisher<T>, Publisher<T>> named(String name, Function<? super T, String> words) {
    requireNonNull(words, "words");
    return named(name, 0, (event, element) -> ElementWords.of(event, element, words));
  }

  private <T> Function<Publisher<T>, Publisher<T>> named(String name, long link, Words<? super T> words) {
    requireNonNull(name, "name");
    return source -> {
      requireNonNull(source, "source");
      Publisher<T> recorded = reader -> {
        RecordedEvent begin = RecordedEvent.of(Kind.FLOW, turns.newNamedFlow()).with(link).with(name);
        source.subscribe(new Recorded<T>(begin, words, Operators.toCoreSubscriber(reader)));
      };
      return source instanceof Mono ? Mono.fromDirect(recorded) : Flux.from(recorded);
    };
  }

  /// Records that a check found an invariant broken.
  ///
  /// @param what was broken, and how
  public void broken(String what) {
    add(RecordedEvent.of(Kind.BROKEN, 0).with(what));
  }

  /// Records that a link came up.
  ///
  /// @param peer address of its other end
  /// @param local address of this end; empty if it is unknown
  /// @return records what happens on the link
  public RecordedLink link(String peer, String local) {
    return new RecordedLink(turns, peer, local);
  }

  private void add(RecordedEvent signal) {
    turns.signal(signal);
  }

  /// Describes elements.
  private interface Words<T> {
    RecordedEvent describe(RecordedEvent event, T element);
  }

  private final class Recorded<T> implements CoreSubscriber<T>, Subscription {
    private final RecordedEvent begin;
    private final Words<? super T> words;
    private final CoreSubscriber<? super T> actual;
    private final WithheldDemand demand = new WithheldDemand(turns, this::requestNow);
    private @Nullable Subscription upstream;

    Recorded(RecordedEvent begin, Words<? super T> words, CoreSubscriber<? super T> actual) {
      this.begin = begin;
      this.words = words;
      this.actual = actual;
    }

    private RecordedEvent event(Kind kind) {
      return RecordedEvent.of(kind, begin.flow());
    }

    @Override
    public Context currentContext() {
      return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      if (Operators.validate(upstream, subscription)) {
        upstream = subscription;
        add(begin);
        actual.onSubscribe(this);
      }
    }

    @Override
    public void onNext(T element) {
      add(words.describe(event(Kind.FLOW_NEXT), requireNonNull(element, "element")));
      actual.onNext(element);
    }

    @Override
    public void onError(Throwable error) {
      add(event(Kind.FLOW_ERROR).with(Errors.text(error)));
      actual.onError(error);
    }

    @Override
    public void onComplete() {
      add(event(Kind.FLOW_COMPLETE));
      actual.onComplete();
    }

    @Override
    public void request(long n) {
      demand.request(n);
    }

    private void requestNow(long n) {
      add(event(Kind.FLOW_REQUEST).with(n));
      source().request(n);
    }

    @Override
    public void cancel() {
      demand.cancel();
      source().cancel();
      add(event(Kind.FLOW_CANCEL));
    }

    private Subscription source() {
      return requireNonNull(upstream, "upstream"); // the reader knows this only since then
    }
  }
}

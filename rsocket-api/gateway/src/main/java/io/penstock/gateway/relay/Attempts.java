package io.penstock.gateway.relay;

import static java.util.Objects.requireNonNull;

import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.OwnUsage;
import io.penstock.gateway.api.TokenCounts;
import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.chunk.EngineChunk;
import io.penstock.gateway.dialect.AnswerEvent;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.dialect.EnginePair;
import io.penstock.gateway.dialect.EngineRequest;
import io.penstock.gateway.dialect.LegFailure;
import io.penstock.gateway.dialect.RequestFailure;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/// The attempts of one request, one after another.
final class Attempts {
  /// Tells an engine which peer has the prefix.
  private static final String SOURCE = "X-Penstock-Source";
  private static final int BAD_REQUEST = 400;
  private static final int UNAVAILABLE = 503;
  private static final int BAD_GATEWAY = 502;
  private static final int FIRST_SERVER_ERROR = 500;
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

  private final Relay relay;
  private final RelayTrace trace;
  private final Admission.Ticket ticket;
  private final long start;
  private final StreamRecord record;
  private final boolean isStream;
  private final Set<Instance> failed = new HashSet<>();
  /// Instances that refused the connection. Nothing changes there within a request.
  private final Set<Instance> unreached = new HashSet<>();
  /// Why the first attempt failed since an engine answered last.
  private @Nullable Throwable first;
  /// No instance is left to try.
  private boolean exhausted;
  private RelayRequest request;
  private @Nullable Chosen chosen;
  private final OwnUsage ownUsage = new OwnUsage();
  /// Whether the running attempt asks in the client's own form.
  private boolean asksOwn;
  private @Nullable Chosen answering;
  /// Refused a stream with token ids. It counts as an engine that does so when it answers one without.
  private @Nullable Instance refusing;
  private boolean begun;
  /// No instance was live.
  private boolean desperate;
  private int attempts;
  private int resumes;

  Attempts(Relay relay, RelayRequest request, RelayTrace trace, Admission.Ticket ticket, long start) {
    this.relay = relay;
    this.request = request;
    this.trace = trace;
    this.ticket = ticket;
    this.start = start;
    this.isStream = request.isStream();
    this.record = new StreamRecord(request, relay.options().resumes() > 0);
  }

  Flux<AnswerEvent> run(Prompt prompt) {
    return Flux.defer(() -> attempt(prompt)).onErrorResume(failure -> next(prompt, failure));
  }

  private Flux<AnswerEvent> attempt(Prompt prompt) {
    boolean live = isLive(InstanceRole.BOTH) || (isLive(InstanceRole.PREFILL) && isLive(InstanceRole.DECODE));
    desperate = !live;
    OwnForm own = request.own();
    List<Instance> both = usable(InstanceRole.BOTH, live);
    ApiException refusal = own == null ? null : own.refusal();
    if (own == null || refusal == null) {
      return attempt(relay.chooser().choose(prompt, usable(InstanceRole.PREFILL, live),
          usable(InstanceRole.DECODE, live), both));
    }
    List<Instance> able = both.stream().filter(instance -> mayAsk(own, instance)).toList();
    return able.isEmpty()
        ? Flux.error(refusal)
        : attempt(relay.chooser().choose(prompt, List.of(), List.of(), able));
  }

  private Flux<AnswerEvent> attempt(@Nullable Chosen now) {
    if (now == null) {
      exhausted = true;
      return Flux.error(none());
    }
    if (first != null) {
      LOG.info("request {} goes to {} after {}", request.id(), place(now), first.getMessage());
    }
    if (!begun && now.decode().refusesTokenIds(request.path())) {
      record.stopsAsking();
    }
    attempts++;
    chosen = now;
    asksOwn = asksOwn(now);
    trace.chosen(now);
    trace.own(asksOwn);
    Duration first = isStream ? relay.options().first() : relay.options().total();
    Duration idle = relay.options().idle();
    return Silence.limited(Flux.defer(() -> relay.dialect().answer(engineRequest(now), pair(now))), first, idle,
        relay.timer())
        .doOnNext(event -> answered(now))
        .doFinally(signal -> now.close())
        .<AnswerEvent>handle((event, sink) -> {
          AnswerEvent changed = take(event);
          if (changed != null) {
            begun = true;
            sink.next(changed);
          }
        });
  }

  private static String place(Chosen chosen) {
    Instance prefill = chosen.prefill();
    return prefill == null ? chosen.decode().name() : prefill + ">" + chosen.decode();
  }

  /// Instances that have not failed this request, or all that were reached if every one has.
  ///
  /// @param anyLive whether live instances can serve the request; if not, those that answered once are tried
  private List<Instance> usable(InstanceRole role, boolean anyLive) {
    List<Instance> live = ofModel(relay.instances().live(role));
    if (live.isEmpty() && !anyLive) {
      live = ofModel(relay.instances().tried(role));
    }
    List<Instance> reached = live.stream().filter(instance -> !unreached.contains(instance)).toList();
    List<Instance> rest = reached.stream().filter(instance -> !failed.contains(instance)).toList();
    return rest.isEmpty() ? reached : rest;
  }

  private boolean isLive(InstanceRole role) {
    return !ofModel(relay.instances().live(role)).isEmpty();
  }

  private List<Instance> ofModel(List<Instance> among) {
    String model = request.model();
    return model.isEmpty()
        ? among
        : among.stream().filter(instance -> relay.models().mayHave(instance.address(), model)).toList();
  }

  private EngineRequest engineRequest(Chosen now) {
    Map<String, String> headers = new HashMap<>(request.headers());
    String source = now.source();
    if (source != null) {
      headers.put(SOURCE, source);
    }
    OwnForm own = request.own();
    if (own != null && asksOwn) {
      return new EngineRequest(own.form().path(), own.body(), request.id(), headers);
    }
    return new EngineRequest(request.path(), resumes > 0 ? request.body() : record.body(), request.id(), headers);
  }

  private static EnginePair pair(Chosen now) {
    Instance prefill = now.prefill();
    EngineAddress decode = now.decode().address();
    return prefill == null ? EnginePair.single(decode) : EnginePair.of(prefill.address(), decode);
  }

  private void answered(Chosen now) {
    if (trace.events() == 0) {
      ticket.first();
    }
    if (!now.equals(answering)) { // its first event: as good a sign as a probe, which may come late at a busy engine
      answering = now;
      first = null;
      if (now.decode().equals(refusing)) {
        now.decode().refuseTokenIds(request.path());
      }
      relay.instances().observe(now.decode(), true);
      Instance prefill = now.prefill();
      if (prefill != null) {
        relay.instances().observe(prefill, true);
      }
    }
    now.begun();
    trace.event(relay.timer().now(TimeUnit.NANOSECONDS) - start);
  }

  /// Two engines would have to make the same tokens of a form that each of them reads by itself, so only an engine that
  /// does both is asked in it.
  private boolean asksOwn(Chosen now) {
    OwnForm own = request.own();
    return own != null && now.prefill() == null && mayAsk(own, now.decode());
  }

  private boolean mayAsk(OwnForm own, Instance instance) {
    return relay.forms().mayHave(instance, own.form());
  }

  private AnswerEvent takeOwn(AnswerEvent event) {
    TokenCounts counts = switch (event) {
      case AnswerEvent.Chunk chunk -> ownUsage.take(chunk.read());
      case AnswerEvent.Whole whole -> ownUsage.take(whole.body());
    };
    trace.counts(counts);
    return event;
  }

  private @Nullable AnswerEvent take(AnswerEvent event) {
    if (asksOwn) {
      return takeOwn(event);
    }
    TokenCounts before = record.counts();
    AnswerEvent changed = changed(event);
    if (!record.counts().equals(before)) {
      trace.counts(record.counts());
    }
    return changed;
  }

  private @Nullable AnswerEvent changed(AnswerEvent event) {
    return switch (event) {
      case AnswerEvent.Chunk chunk -> {
        EngineChunk taken = record.take(chunk.read());
        yield taken == null ? null : taken.equals(chunk.read()) ? chunk : new AnswerEvent.Chunk(taken);
      }
      case AnswerEvent.Whole whole -> {
        record.count(whole.body());
        yield whole;
      }
    };
  }

  private Flux<AnswerEvent> next(Prompt prompt, Throwable failure) {
    Chosen last = chosen;
    OwnForm own = request.own();
    if (!begun && asksOwn && own != null && last != null
        && relay.forms().learn(own.form(), last.decode(), failure)) {
      attempts--; // the engine has not seen the request
      return inOtherWords(prompt, failure);
    }
    if (!begun && last != null && refusesIds(failure) && record.stopsAsking()) {
      refusing = last.decode();
      attempts--; // it may be the request that is wrong: the answer without will tell
      return inOtherWords(prompt, failure);
    }
    if (exhausted) {
      return Flux.error(ending(failure));
    }
    if (first == null) {
      first = failure;
    }
    if (last != null) {
      blame(last, failure);
    }
    if (!begun) {
      return mayRepeat(failure) && attempts < relay.options().attempts()
          ? run(prompt)
          : Flux.error(ending(failure));
    }
    if (!isDeath(failure) || !record.canGoOn()) {
      return Flux.error(ending(failure));
    }
    RelayRequest rest = record.goOn();
    if (rest == null) { // no engine is needed any more
      return Flux.fromIterable(record.ending()).<AnswerEvent>map(AnswerEvent.Chunk::new)
          .doOnComplete(() -> trace.counts(record.counts()));
    }
    if (resumes >= relay.options().resumes()) {
      return Flux.error(ending(failure));
    }
    resumes++;
    trace.resumed();
    request = rest;
    return run(prompt);
  }

  private Flux<AnswerEvent> inOtherWords(Prompt prompt, Throwable failure) {
    LOG.info("request {} is asked in other words: {}", request.id(), failure.getMessage());
    return run(prompt);
  }

  /// The error of the answer: that nothing is left to try, or that it was not reached, is a consequence of what failed
  /// first.
  private Throwable ending(Throwable failure) {
    Throwable cause = first != null && (exhausted || isUnreached(failure)) ? first : failure;
    return !begun && desperate && isUnreached(cause) ? none() : named(cause);
  }

  /// Counts a failure against the instance that caused it.
  private void blame(Chosen last, Throwable failure) {
    if (failure instanceof LegFailure leg) {
      Instance prefill = last.prefill();
      Instance guilty = prefill != null && leg.engine().equals(prefill.address()) ? prefill : last.decode();
      failed.add(guilty);
      if (isUnreached(failure)) {
        unreached.add(guilty);
      }
      if (leg.status() == 0 && leg.isTransient()) {
        relay.instances().observe(guilty, false);
      }
    } else if (failure instanceof TimeoutException) {
      failed.add(last.decode());
    }
  }

  /// Whether an engine may have refused the field that the gateway added: SGLang does so in streamed chats. Others
  /// repeat the whole request when they refuse any part of it.
  private static boolean refusesIds(Throwable failure) {
    return failure instanceof LegFailure leg && leg.status() == BAD_REQUEST
        && leg.body().contains(StreamRecord.ASKS_IDS);
  }

  private static boolean isUnreached(Throwable failure) {
    return failure instanceof LegFailure leg && leg.stage() == LegFailure.Stage.CONNECT;
  }

  private ApiException none() {
    Instances all = relay.instances();
    String why = all.answering() == 0
        ? ": " + all.whyNone(InstanceRole.DECODE)
        : all.live(InstanceRole.BOTH).isEmpty() && all.live(InstanceRole.PREFILL).isEmpty()
            ? ": " + all.whyNone(InstanceRole.PREFILL)
            : "";
    return new ApiException(UNAVAILABLE, "no instance can serve the request now" + why, SOON);
  }

  private static boolean mayRepeat(Throwable failure) {
    return switch (failure) {
      case LegFailure leg -> leg.isTransient();
      case RequestFailure unready -> unready.status() >= FIRST_SERVER_ERROR;
      default -> false;
    };
  }

  private static boolean isDeath(Throwable failure) {
    return failure instanceof TimeoutException || mayRepeat(failure);
  }

  private Throwable named(Throwable failure) {
    if (failure instanceof TimeoutException) {
      return begun
          ? RelayTimeout.of("silence of an engine", relay.options().idle())
          : RelayTimeout.of("a first event", isStream ? relay.options().first() : relay.options().total());
    }
    boolean known = failure instanceof ApiException || failure instanceof LegFailure
        || failure instanceof RequestFailure;
    if (known) {
      return failure;
    }
    LOG.warn("request {} failed", requireNonNull(request).id(), failure);
    return new ApiException(BAD_GATEWAY, "the request failed at an engine");
  }
}

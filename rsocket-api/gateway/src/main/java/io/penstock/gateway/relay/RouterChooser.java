package io.penstock.gateway.relay;

import io.penstock.check.Uncaught;
import io.penstock.gateway.choice.Choice;
import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.choice.Router;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.events.EventSource;
import io.penstock.gateway.events.EventSubscriber;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.prompt.NamedPrompt;
import io.penstock.gateway.prompt.PromptRequest;
import io.penstock.gateway.prompt.PromptTokens;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Chooses by a [Router].
public final class RouterChooser implements Chooser, Instances.Listener {
  private static final NamedPrompt UNKNOWN = new NamedPrompt(new long[0], 0, false);

  private final Router router;
  private final PromptTokens tokens;
  private final int blockTokens;
  private final EventSubscriber events;
  private final Map<Instance, Integer> numbers = new ConcurrentHashMap<>();
  private final Map<Integer, Instance> instances = new ConcurrentHashMap<>();

  /// @param tokens how the blocks of a prompt become known
  /// @param blockTokens tokens of a block
  /// @param events of instances whose address names them; they keep the router's index
  public RouterChooser(Router router, PromptTokens tokens, int blockTokens, EventSubscriber events) {
    this.router = router;
    this.tokens = tokens;
    this.blockTokens = blockTokens;
    this.events = events;
  }

  /// Where the events of an instance are; null if its address does not say.
  private static @Nullable EventSource events(EngineAddress address) {
    String events = address.setting(EngineAddress.EVENTS).orElse(null);
    if (events == null) {
      return null;
    }
    return new EventSource(events, address.setting(EngineAddress.EVENTS_REPLAY).orElse(null),
        address.setting(EngineAddress.EVENTS_TOPIC).orElse(""),
        address.setting(EngineAddress.EVENTS_OF).map("engine"::equals).orElse(true));
  }

  @Override
  public void added(Instance instance) {
    EventSource source = events(instance.address());
    int number = router.add(instance.name(), source != null);
    numbers.put(instance, number);
    instances.put(number, instance);
    if (source != null) {
      events.follow(number, source);
    }
  }

  @Override
  public void removed(Instance instance) {
    Integer number = numbers.remove(instance);
    if (number != null) {
      instances.remove(number);
      // The number is free again when no event of this instance can come any more
      events.unfollow(number).subscribe(null, Uncaught::report, () -> router.remove(number));
    }
  }

  @Override
  public Mono<Prompt> look(RelayRequest request) {
    return tokens.of(new PromptRequest(request.body(), null)).defaultIfEmpty(UNKNOWN)
        .map(named -> named.prompt(blockTokens, request.bytes(), request.session()));
  }

  @Override
  public @Nullable Chosen choose(Prompt prompt, List<Instance> prefills, List<Instance> decodes,
      List<Instance> both) {
    boolean split = !prefills.isEmpty() && !decodes.isEmpty();
    for (int left = prefills.size() + decodes.size() + both.size(); left > 0; left--) {
      Choice choice =
          split ? router.choose(prompt, bits(prefills), bits(decodes)) : router.choose(prompt, bits(both), 0);
      if (choice == null) {
        return null;
      }
      Chosen held = begin(choice, split);
      if (held != null) {
        return held;
      }
    }
    return null;
  }

  /// Null if an instance of the choice went at this moment.
  private @Nullable Chosen begin(Choice choice, boolean split) {
    Instance prefill = split ? instances.get(choice.prefill()) : null;
    Instance decode = instances.get(choice.decode());
    if (decode != null && decode.begin()) {
      if (!split || (prefill != null && prefill.begin())) {
        return new Held(choice, prefill, decode, source(choice));
      }
      decode.end();
    }
    choice.close();
    return null;
  }

  /// Null if no other instance has more of the prompt than the one that computes it.
  private @Nullable String source(Choice choice) {
    Choice.Source source = choice.source();
    if (source == null || source.blocks() <= choice.overlapBlocks()) {
      return null;
    }
    Instance peer = instances.get(source.instance());
    StringBuilder words = new StringBuilder(source.name()).append(";blocks=").append(source.blocks());
    if (peer != null) {
      words.append(";url=").append(peer.address());
      peer.address().setting(EngineAddress.KV_PORT).ifPresent(port -> words.append(";kv=")
          .append(peer.address().setting(EngineAddress.KV_HOST).orElse(peer.address().url().getHost())).append(':')
          .append(port));
    }
    return words.toString();
  }

  /// Those that still take requests, a bit each.
  private long bits(List<Instance> among) {
    long bits = 0;
    for (Instance instance : among) {
      Integer number = instance.mayBeTried() ? numbers.get(instance) : null;
      bits |= number == null ? 0 : 1L << number;
    }
    return bits;
  }

  private static final class Held implements Chosen {
    private final Choice choice;
    private final @Nullable Instance prefill;
    private final Instance decode;
    private final @Nullable String source;
    private final AtomicBoolean closed = new AtomicBoolean();

    Held(Choice choice, @Nullable Instance prefill, Instance decode, @Nullable String source) {
      this.choice = choice;
      this.prefill = prefill;
      this.decode = decode;
      this.source = source;
    }

    @Override
    public @Nullable Instance prefill() {
      return prefill;
    }

    @Override
    public Instance decode() {
      return decode;
    }

    @Override
    public @Nullable String source() {
      return source;
    }

    @Override
    public void begun() {
      choice.handedOver();
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        choice.close();
        decode.end();
        if (prefill != null) {
          prefill.end();
        }
      }
    }
  }
}

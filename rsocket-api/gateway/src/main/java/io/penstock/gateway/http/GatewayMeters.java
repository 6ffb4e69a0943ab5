package io.penstock.gateway.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.TokenCounts;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.relay.Admission;
import io.penstock.gateway.relay.RelayTrace;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Figures of the gateway.
public final class GatewayMeters {
  private final MeterRegistry registry;
  private final Timer first;
  private final Counter repeated;
  private final Counter resumed;
  private final Counter prompt;
  private final Counter cached;
  private final Counter completion;

  public GatewayMeters(MeterRegistry registry, Admission admission, Instances instances) {
    this.registry = registry;
    this.first = Timer.builder("penstock.gateway.first").publishPercentileHistogram()
        .description("Time to the first event of an answer, the wait for a place included").register(registry);
    this.repeated = counter("penstock.gateway.repeated", "Attempts after the first one, before the first byte");
    this.resumed = counter("penstock.gateway.resumed", "Answers that went on at another instance");
    this.prompt = tokens("prompt");
    this.cached = tokens("cached");
    this.completion = tokens("completion");
    Gauge.builder("penstock.gateway.running", admission, Admission::running).description("Requests that run")
        .register(registry);
    Gauge.builder("penstock.gateway.waiting", admission, Admission::waiting).description("Requests that wait")
        .register(registry);
    for (InstanceRole role : InstanceRole.values()) {
      Gauge.builder("penstock.gateway.instances", instances, all -> all.live(role).size())
          .tag("role", role.name().toLowerCase(Locale.ROOT)).description("Instances that take requests")
          .register(registry);
    }
  }

  /// Shows with how many gateways quotas are shared.
  public void bind(QuotaShare quotas) {
    Gauge.builder("penstock.gateway.quota.shared", quotas, each -> each.isShared() ? 1 : 0)
        .description("Whether quotas hold over all gateways, and not at this one alone").register(registry);
    Gauge.builder("penstock.gateway.quota.gateways", quotas, each -> each.others().size())
        .description("Other gateways that share quotas").register(registry);
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  private Counter tokens(String kind) {
    return Counter.builder("penstock.gateway.tokens").tag("kind", kind)
        .description("Tokens of prompts, those of them that came from caches, and generated tokens").register(registry);
  }

  void ended(@Nullable ApiForm form, int status, RelayTrace trace, Duration time) {
    String name = form == null ? "none" : form.name().toLowerCase(Locale.ROOT);
    Timer.builder("penstock.gateway.requests").tag("form", name).tag("status", String.valueOf(status))
        .description("Requests by form and status; 499 is a client that went").register(registry).record(time);
    if (trace.firstNanos() >= 0) {
      first.record(Duration.ofNanos(trace.firstNanos()));
    }
    repeated.increment(Math.max(0, trace.attempts() - 1 - trace.resumes()));
    resumed.increment(trace.resumes());
    TokenCounts counts = trace.counts();
    prompt.increment(counts.prompt());
    cached.increment(Math.max(0, counts.cached()));
    completion.increment(counts.completion());
  }
}

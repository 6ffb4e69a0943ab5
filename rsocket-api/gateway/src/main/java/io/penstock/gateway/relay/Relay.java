package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.dialect.AnswerEvent;
import io.penstock.gateway.dialect.Dialect;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.ModelCatalog;
import io.penstock.operator.CutOff;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The life of a request: it waits for its place, gets instances, and is sent to them in their dialect. Safe for use by
/// several threads.
public final class Relay {
  private static final int NOT_FOUND = 404;
  private static final int MAX_SHOWN = 80;

  private final RelayOptions options;
  private final Admission admission;
  private final Chooser chooser;
  private final Instances instances;
  private final Dialect dialect;
  private final ModelCatalog models;
  private final OwnForms forms;
  private final Scheduler timer;

  /// @param models which engine has which model
  /// @param forms which engines are asked in the client's own form
  /// @param timer the clock of limits
  public Relay(RelayOptions options, Admission admission, Chooser chooser, Instances instances, Dialect dialect,
      ModelCatalog models, OwnForms forms, Scheduler timer) {
    this.options = options;
    this.admission = admission;
    this.chooser = chooser;
    this.instances = instances;
    this.dialect = dialect;
    this.models = models;
    this.forms = forms;
    this.timer = timer;
  }

  /// The answer. Cold; one subscription.
  ///
  /// - Before the first event a failed attempt is repeated at other instances, never after an engine's status of 400 to
  ///   499.
  /// - After it, an answer whose engine died goes on at another one from the tokens that the client has seen, where the
  ///   engine named them; otherwise the answer fails. It completes only when it is whole.
  /// - Cancel: closes both legs and gives the places back.
  /// - Errors: [io.penstock.gateway.api.ApiException], and those of a [Dialect].
  ///
  /// @param trace written while the request runs
  public Flux<AnswerEvent> answer(RelayRequest request, RelayTrace trace) {
    return Flux.using(() -> {
      requireModel(request.model());
      return admission.enter(request.priority());
    }, ticket -> {
      long start = timer.now(TimeUnit.NANOSECONDS);
      Attempts attempts = new Attempts(this, request, trace, ticket, start);
      Flux<AnswerEvent> answer =
          ticket.granted().then(Mono.defer(() -> chooser.look(request))).flatMapMany(attempts::run);
      return CutOff.at(answer, Mono.delay(options.total(), timer)
          .then(Mono.error(() -> RelayTimeout.of("a request", options.total()))));
    }, Admission.Ticket::leave, false);
  }

  /// Whether engines are asked in a client's own form.
  public boolean asksIn(ApiForm form) {
    return forms.areAsked(form);
  }

  /// Refuses a model that no instance has, before the request waits for a place.
  private void requireModel(String model) {
    if (model.isEmpty()) {
      return;
    }
    List<Instance> all = instances.all();
    if (!all.isEmpty() && all.stream().noneMatch(instance -> models.mayHave(instance.address(), model))) {
      String shown = model.length() > MAX_SHOWN ? model.substring(0, MAX_SHOWN) + "…" : model;
      throw ApiException.of(NOT_FOUND, "model must be one of /v1/models (was " + shown + ")", "model");
    }
  }

  /// Refuses a request that has no place and cannot wait for one. It costs one lock: ask before a body is parsed.
  ///
  /// @throws io.penstock.gateway.api.ApiException with status 503 or 429
  public void requireRoom(int priority) {
    admission.requireRoom(priority);
  }

  RelayOptions options() {
    return options;
  }

  Chooser chooser() {
    return chooser;
  }

  Instances instances() {
    return instances;
  }

  Dialect dialect() {
    return dialect;
  }

  ModelCatalog models() {
    return models;
  }

  OwnForms forms() {
    return forms;
  }

  Scheduler timer() {
    return timer;
  }
}

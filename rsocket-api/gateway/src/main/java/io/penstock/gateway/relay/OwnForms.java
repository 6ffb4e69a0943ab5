package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.dialect.LegFailure;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.Instances;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Which engines are asked in the client's own form. An engine is taken to have a form until it answers that it has no
/// such endpoint; then its requests become chats, until the instance is added again. Safe for use by several threads.
public final class OwnForms implements Instances.Listener {
  private static final Set<Integer> NO_ENDPOINT = Set.of(404, 405, 501);

  private final Set<ApiForm> asked;
  private final Set<Lack> lacks = ConcurrentHashMap.newKeySet();

  private record Lack(EngineAddress engine, ApiForm form) {}

  /// @param asked forms in which engines are asked; requests of other forms become chats
  public OwnForms(Set<ApiForm> asked) {
    this.asked = Set.copyOf(asked);
  }

  /// Whether engines are asked in this form.
  public boolean areAsked(ApiForm form) {
    return asked.contains(form);
  }

  boolean mayHave(EngineAddress engine, ApiForm form) {
    return asked.contains(form) && !lacks.contains(new Lack(engine, form));
  }

  /// Takes note of a refusal.
  ///
  /// @return whether it says that the engine has no such endpoint
  boolean learn(ApiForm form, Throwable failure) {
    boolean lacking = failure instanceof LegFailure leg && leg.stage() == LegFailure.Stage.ANSWER
        && NO_ENDPOINT.contains(leg.status());
    if (lacking) {
      lacks.add(new Lack(((LegFailure) failure).engine(), form));
    }
    return lacking;
  }

  @Override
  public void removed(Instance instance) {
    lacks.removeIf(lack -> lack.engine().equals(instance.address()));
  }
}

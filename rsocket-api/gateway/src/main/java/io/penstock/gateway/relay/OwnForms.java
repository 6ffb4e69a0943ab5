package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.dialect.LegFailure;
import io.penstock.gateway.instance.Instance;
import java.util.Set;

/// Which engines are asked in the client's own form. An engine is taken to have a form until it answers that it has no
/// such endpoint; then its requests become chats, until it comes up again.
///
/// @param asked forms in which engines are asked; requests of other forms become chats
public record OwnForms(Set<ApiForm> asked) {
  private static final int NOT_FOUND = 404;
  private static final int NO_METHOD = 405;
  private static final int NOT_IMPLEMENTED = 501;

  public OwnForms {
    asked = Set.copyOf(asked);
  }

  /// Whether engines are asked in this form.
  public boolean areAsked(ApiForm form) {
    return asked.contains(form);
  }

  boolean mayHave(Instance instance, ApiForm form) {
    return asked.contains(form) && !instance.lacksEndpoint(form.path());
  }

  /// Takes note of a refusal.
  ///
  /// @return whether it says that the engine has no such endpoint
  boolean learn(ApiForm form, Instance instance, Throwable failure) {
    boolean lacking = failure instanceof LegFailure leg && leg.stage() == LegFailure.Stage.ANSWER
        && instance.address().equals(leg.engine()) && isOfEndpoint(leg);
    if (lacking) {
      instance.lackEndpoint(form.path());
    }
    return lacking;
  }

  /// Whether a refusal is about the endpoint, and not about what the request asks of it: engines answer 404 for a
  /// model, and 501 for a kind of tool, in the form of the API's errors.
  private static boolean isOfEndpoint(LegFailure leg) {
    return switch (leg.status()) {
      case NO_METHOD -> true;
      case NOT_FOUND -> !leg.body().contains("model");
      case NOT_IMPLEMENTED -> !leg.body().contains("\"error\"");
      default -> false;
    };
  }
}

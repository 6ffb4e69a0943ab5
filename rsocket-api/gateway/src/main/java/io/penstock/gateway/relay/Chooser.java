package io.penstock.gateway.relay;

import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.instance.Instance;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Chooses the instances of a request by what it is and by what the instances have. Safe for use by several threads.
public interface Chooser {
  /// What a choice knows of a request. Never empty; never blocks; an error fails the request.
  Mono<Prompt> look(RelayRequest request);

  /// Chooses among instances that take requests. Where there are prefill and decode instances, one of each; otherwise
  /// one that does both.
  ///
  /// @return null if there is none; otherwise it must be closed
  @Nullable Chosen choose(Prompt prompt, List<Instance> prefills, List<Instance> decodes, List<Instance> both);
}

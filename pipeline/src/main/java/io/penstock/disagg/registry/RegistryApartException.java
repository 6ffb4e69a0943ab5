package io.penstock.disagg.registry;

import io.penstock.TransientKvException;

/// The registry does not know yet what the other registries of its cluster know. Another one, or a later try, answers.
public final class RegistryApartException extends TransientKvException {
  public RegistryApartException() {
    super("registry must have joined its cluster to answer (is joining it)");
  }
}

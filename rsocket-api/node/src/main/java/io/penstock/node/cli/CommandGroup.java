package io.penstock.node.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// A command that only has commands below it: alone, it lists them and succeeds.
public abstract class CommandGroup implements Runnable {
  @Spec
  private CommandSpec spec = CommandSpec.create();

  @Override
  public final void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }
}

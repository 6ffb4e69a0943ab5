package io.penstock.lab;

import io.penstock.node.CommandLineRun;
import java.util.Map;

/// One command line of the lab's program, run in this process.
public final class LabRun {
  private LabRun() {}

  public static CommandLineRun of(String... arguments) {
    return with(Map.of(), new byte[0], arguments);
  }

  public static CommandLineRun with(Map<String, String> environment, byte[] in, String... arguments) {
    return CommandLineRun.of(LabMain::commandLine, environment, in, arguments);
  }
}

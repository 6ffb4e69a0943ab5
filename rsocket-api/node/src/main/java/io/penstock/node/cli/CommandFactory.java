package io.penstock.node.cli;

import java.lang.reflect.Constructor;
import picocli.CommandLine;
import picocli.CommandLine.IFactory;

/// Creates command objects: a constructor that takes a [Console] is given it, any other is called as picocli does.
public final class CommandFactory implements IFactory {
  private final Console console;

  public CommandFactory(Console console) {
    this.console = console;
  }

  @Override
  public <K> K create(Class<K> type) throws Exception {
    for (Constructor<?> constructor : type.getDeclaredConstructors()) {
      if (constructor.getParameterCount() == 1 && constructor.getParameterTypes()[0] == Console.class) {
        constructor.setAccessible(true);
        return type.cast(constructor.newInstance(console));
      }
    }
    return CommandLine.defaultFactory().create(type);
  }
}

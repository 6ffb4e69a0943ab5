/// What every module tests with: contracts of ports, fixtures, a ledger of leaks, and the rules of the house.
package io.penstock.testkit;

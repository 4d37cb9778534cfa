"""One small file per language, and what is read from it, each symbol on a line: lines, + when exported, kind, name, signature."""

from typing import NamedTuple


class Sample(NamedTuple):
    """A file, its symbols and its raw imports."""

    path: str
    source: str
    symbols: str
    imports: list[str]


SAMPLES = {
    "python": Sample(
        path="shop/cart.py",
        source=r'''"""A cart."""

import os, money.core as core
from . import rates
from ..money import Money

__all__ = ["Cart", "TOTAL"]

TOTAL: int = 3
_hidden = 2


# Holds items.
@dataclass
class Cart(Base, metaclass=Meta):
    """Doc."""

    items: list[int] = []

    @property
    def total(self) -> int:  # in cents
        return sum(self.items)

    async def add(
        self,
        other: Money = Money(1, 2),  # what to add
    ) -> Money:
        import lazy

        def inner(): ...
        return other

    def __len__(self): return 0
    def _secret(self): pass

def unlisted(a, /, *rest): pass
try:
    import fast
except ImportError:
    def fast(x): return x
''',
        symbols=r"""
7-7 - variable __all__ | __all__
9-9 + variable TOTAL | TOTAL: int
10-10 - variable _hidden | _hidden
13-34 + class Cart | class Cart(Base, metaclass=Meta)
18-18 + field Cart.items | items: list[int]
20-22 + method Cart.total | def total(self) -> int
24-31 + method Cart.add | async def add(self, other: Money = Money(1, 2)) -> Money
33-33 + method Cart.__len__ | def __len__(self)
34-34 - method Cart._secret | def _secret(self)
36-36 - function unlisted | def unlisted(a, /, *rest)
40-40 - function fast | def fast(x)
""",
        imports=["os", "money.core", ".:rates", "..money:Money", "lazy", "fast"],
    ),
    "typescript": Sample(
        path="src/cart.ts",
        source=r"""import { Money, type Rate } from "./money";
import * as all from '../all';
import old = require("./old");
export * from "./more";
const lazy = () => import("./lazy");

/** Holds items. */
@Injectable()
export class Cart<T> extends Base implements Shape {
  readonly items: number[] = [];
  private hidden = 1;
  #secret = 2;
  handler = (a: number): void => { run(a); };
  constructor(private x: number) { super(); }
  get total(): number { return 1; }
  async add(
    other: Money, // what
  ): Promise<Money> { return other; }
}

export const add = (other: Money): Money => other;
export const RATE: number = 3;
const local = function (a: string) {};
function listed() {}
export { listed };
export interface Shape { area(): number; name?: string }
export type Id = string | number;
export enum Color { Red, Green = "g" }
export namespace Inner { export function deep(): void {} }
export default function main(a: string) { return a; }
""",
        symbols=r"""
5-5 - function lazy | lazy = ()
7-19 + class Cart | class Cart<T> extends Base implements Shape
10-10 + field Cart.items | readonly items: number[]
11-11 - field Cart.hidden | private hidden
12-12 - field Cart.secret | #secret
13-13 + method Cart.handler | handler = (a: number): void
14-14 + method Cart.constructor | constructor(private x: number)
15-15 + method Cart.total | get total(): number
16-18 + method Cart.add | async add(other: Money): Promise<Money>
21-21 + function add | add = (other: Money): Money
22-22 + variable RATE | RATE: number
23-23 - function local | local = function (a: string)
24-24 + function listed | function listed()
26-26 + interface Shape | interface Shape
26-26 + method Shape.area | area(): number
26-26 + field Shape.name | name?: string
27-27 + type Id | type Id = string | number
28-28 + enum Color | enum Color
28-28 + constant Color.Red | Red
28-28 + constant Color.Green | Green
29-29 + module Inner | namespace Inner
29-29 + function Inner.deep | function deep(): void
30-30 + function main | function main(a: string)
""",
        imports=["./money", "../all", "./old", "./more", "./lazy"],
    ),
    "tsx": Sample(
        path="src/View.tsx",
        source=r"""import React from "react";
export function View({ name }: Props): JSX.Element {
  return <div onClick={() => go(name)}>{name}</div>;
}
""",
        symbols=r"""
2-4 + function View | function View({ name }: Props): JSX.Element
""",
        imports=["react"],
    ),
    "javascript": Sample(
        path="lib/cart.js",
        source=r"""const money = require("./money");
class Cart { #x = 1; static open() {} 'odd name'() {} }
Cart.prototype.add = function (other) { return other; };
exports.sum = (a, b) => a + b;
function listed(a) {}
function local() { require("./deep"); }
const api = { get(id) { return id; }, put: async (id) => id, size: 3 };
module.exports = { listed, api };
""",
        symbols=r"""
1-1 - variable money | money
2-2 - class Cart | class Cart
2-2 - field Cart.x | #x
2-2 - method Cart.open | static open()
2-2 - method Cart.oddname | 'odd name'()
3-3 - function Cart.add | Cart.prototype.add = function (other)
4-4 + function sum | exports.sum = (a, b)
5-5 + function listed | function listed(a)
6-6 - function local | function local()
7-7 + variable api | api
7-7 + method api.get | get(id)
7-7 + method api.put | put: async (id)
""",
        imports=["./money", "./deep"],
    ),
    "go": Sample(
        path="cart/cart.go",
        source=r"""package cart

import "fmt"
import (
	m "example.com/shop/money"
)

// Cart holds items.
type Cart struct {
	Items []Item `json:"items"`
	total, Count int
}

type Shape interface { Area() float64 }
type Gen[T any] struct{ V T }
const Max, min = 3, 4

func New(
	a int,
	b ...string,
) (*Cart, error) { return nil, nil }

// Add adds.
func (c *Cart) Add(o m.Item) int { return 1 }
func (g Gen[T]) Do() {}
func helper() {}
""",
        symbols=r"""
8-12 + type Cart | type Cart struct
10-10 + field Cart.Items | Items []Item `json:"items"`
11-11 - field Cart.total | total, Count int
11-11 + field Cart.Count | total, Count int
14-14 + type Shape | type Shape interface
14-14 + method Shape.Area | Area() float64
15-15 + type Gen | type Gen[T any] struct
15-15 + field Gen.V | V T
16-16 + constant Max | const Max, min
16-16 - constant min | const Max, min
18-21 + function New | func New(a int, b ...string) (*Cart, error)
23-24 + method Cart.Add | func (c *Cart) Add(o m.Item) int
25-25 + method Gen.Do | func (g Gen[T]) Do()
26-26 - function helper | func helper()
""",
        imports=["fmt", "example.com/shop/money"],
    ),
    "rust": Sample(
        path="src/cart.rs",
        source=r"""use crate::money::{Money, self, sub::{A as B, *}};
use super::rates;
mod inner_file;

/// Holds items.
#[derive(Debug)]
pub struct Cart<T> where T: Clone { pub items: Vec<T>, total: u32 }

impl<T: Clone> Cart<T> {
    pub const MAX: usize = 3;
    /// Adds.
    pub fn add(&mut self, other: Money) -> Money { other }
    fn hidden(&self) {}
}
impl<T> Display for Cart<T> { fn fmt(&self) -> R { R } }
pub trait Shape { fn area(&self) -> f64; }
pub enum Color { Red, Green(u8) }
pub(crate) fn near() {}
pub mod tools { pub fn deep() {} }
macro_rules! mac { () => {} }
""",
        symbols=r"""
5-7 + class Cart | pub struct Cart<T> where T: Clone
7-7 + field Cart.items | pub items: Vec<T>
7-7 - field Cart.total | total: u32
9-14 - impl Cart | impl<T: Clone> Cart<T>
10-10 + constant Cart.MAX | pub const MAX: usize
11-12 + method Cart.add | pub fn add(&mut self, other: Money) -> Money
13-13 - method Cart.hidden | fn hidden(&self)
15-15 - impl Cart | impl<T> Display for Cart<T>
15-15 - method Cart.fmt | fn fmt(&self) -> R
16-16 + interface Shape | pub trait Shape
16-16 + method Shape.area | fn area(&self) -> f64
17-17 + enum Color | pub enum Color
17-17 + constant Color.Red | Red
17-17 + constant Color.Green | Green(u8)
18-18 - function near | pub(crate) fn near()
19-19 + module tools | pub mod tools
19-19 + function tools.deep | pub fn deep()
20-20 - macro mac | macro_rules! mac
""",
        imports=[
            "crate::money::Money",
            "crate::money",
            "crate::money::sub::A",
            "crate::money::sub",
            "super::rates",
            "mod inner_file",
        ],
    ),
    "java": Sample(
        path="src/main/java/com/shop/Cart.java",
        source=r"""package com.shop;
import com.shop.money.Money;
import static com.shop.Util.help;
import com.shop.all.*;

/** Holds items. */
@Deprecated
public class Cart<T> extends Base {
    private int a, b = 2;
    public static final int MAX = 3;
    public Cart(int x) { }
    @Override
    public Money add(Money other, final int... more) throws Oops { return other; }
    protected abstract void part();
    void near() {}
    static class Inner { public void deep() {} }
}
interface Near { double area(); }
public enum Color { RED(1), GREEN; private int x; }
public record Point(int x, int y) { }
""",
        symbols=r"""
6-17 + class Cart | public class Cart<T> extends Base
9-9 - field Cart.a | private int a, b = 2
9-9 - field Cart.b | private int a, b = 2
10-10 + field Cart.MAX | public static final int MAX
11-11 + method Cart.Cart | public Cart(int x)
12-13 + method Cart.add | public Money add(Money other, final int... more) throws Oops
14-14 + method Cart.part | protected abstract void part()
15-15 - method Cart.near | void near()
16-16 - class Cart.Inner | static class Inner
16-16 - method Cart.Inner.deep | public void deep()
18-18 - interface Near | interface Near
18-18 - method Near.area | double area()
19-19 + enum Color | public enum Color
19-19 + constant Color.RED | RED
19-19 + constant Color.GREEN | GREEN
19-19 - field Color.x | private int x
20-20 + class Point | public record Point(int x, int y)
""",
        imports=["com.shop.money.Money", "com.shop.Util.help", "com.shop.all.*"],
    ),
    "c": Sample(
        path="src/cart.c",
        source=r"""#include "money.h"
#include <shop/rates.h>
#define MAX 3
#define SQ(x) ((x)*(x))
static int hidden(int a) { return a; }
/* Adds. */
int *add(struct cart *c, int b)
{
  return 0;
}
struct cart { int items; char *name, z[3]; void (*cb)(int); };
typedef struct { int x; } point_t;
typedef int (*fn_t)(int);
enum color { RED, GREEN = 2 };
static const char *names[] = { "a" };
int total = 3;
int proto(int a, char b);
#ifdef DEBUG
void trace(void) {}
#endif
""",
        symbols=r"""
3-3 + macro MAX | #define MAX
4-4 + macro SQ | #define SQ(x)
5-5 - function hidden | static int hidden(int a)
6-10 + function add | int *add(struct cart *c, int b)
11-11 + class cart | struct cart
11-11 + field cart.items | int items
11-11 + field cart.name | char *name, z[3]
11-11 + field cart.z | char *name, z[3]
11-11 + field cart.cb | void (*cb)(int)
12-12 + type point_t | typedef struct
12-12 + field point_t.x | int x
13-13 + type fn_t | typedef int (*fn_t)(int)
14-14 + enum color | enum color
14-14 + constant color.RED | RED
14-14 + constant color.GREEN | GREEN
15-15 - variable names | static const char *names[]
16-16 + variable total | int total
17-17 + function proto | int proto(int a, char b)
19-19 + function trace | void trace(void)
""",
        imports=['"money.h"', "<shop/rates.h>"],
    ),
    "cpp": Sample(
        path="src/cart.hpp",
        source=r"""#include "money.hpp"
namespace shop {
template <typename T>
class Cart : public Base<T> {
  int hidden_;
public:
  Cart(int x) : hidden_(x) {}
  ~Cart();
  virtual Money add(const Money& other) const override { return other; }
  T operator+(const T& o);
private:
  void secret();
};
}
struct P { int x; void m(); };
Money Cart<int>::sub(const Money& other) { return other; }
using Alias = int;
enum class Color : int { Red };
extern "C" { void cfun(int); }
""",
        symbols=r"""
3-13 + class Cart | class Cart : public Base<T>
5-5 - field Cart.hidden_ | int hidden_
7-7 + method Cart.Cart | Cart(int x)
8-8 + method Cart.~Cart | ~Cart()
9-9 + method Cart.add | virtual Money add(const Money& other) const override
10-10 + method Cart.operator+ | T operator+(const T& o)
12-12 - method Cart.secret | void secret()
15-15 + class P | struct P
15-15 + field P.x | int x
15-15 + method P.m | void m()
16-16 + function Cart.sub | Money Cart<int>::sub(const Money& other)
17-17 + type Alias | using Alias = int
18-18 + enum Color | enum class Color : int
18-18 + constant Color.Red | Red
19-19 + function cfun | void cfun(int)
""",
        imports=['"money.hpp"'],
    ),
    "csharp": Sample(
        path="Shop/Cart.cs",
        source=r"""using System;
using Shop.Money;
using static Shop.Util;
namespace Shop.Carts;
/// <summary>Holds items.</summary>
[Serializable]
public class Cart<T> : Base where T : class {
    private int a, b;
    public const int Max = 3;
    public int Total { get; private set; }
    public Cart(int x) : base(x) { }
    public async Task<Money> Add(Money other) { return other; }
    void Hidden() {}
}
public interface IShape { double Area(); }
internal enum Color { Red }
public record Point(int X, int Y);
""",
        symbols=r"""
5-14 + class Cart | public class Cart<T> : Base where T : class
8-8 - field Cart.a | private int a, b
8-8 - field Cart.b | private int a, b
9-9 + field Cart.Max | public const int Max
10-10 + field Cart.Total | public int Total
11-11 + method Cart.Cart | public Cart(int x)
12-12 + method Cart.Add | public async Task<Money> Add(Money other)
13-13 - method Cart.Hidden | void Hidden()
15-15 + interface IShape | public interface IShape
15-15 + method IShape.Area | double Area()
16-16 - enum Color | internal enum Color
16-16 - constant Color.Red | Red
17-17 + class Point | public record Point(int X, int Y)
""",
        imports=["System", "Shop.Money", "Shop.Util"],
    ),
    "ruby": Sample(
        path="lib/shop/cart.rb",
        source=r"""require_relative "money"
require 'shop/rates'

module Shop
  MAX = 3
  # Holds items.
  class Cart < Base
    attr_reader :items
    def add(other, *rest, key: 1, &blk)
      other
    end
    def self.build = new
    def ready?; end

    private

    def hidden; end
    public def shown; end
  end
end
""",
        symbols=r"""
4-20 + module Shop | module Shop
5-5 + constant Shop.MAX | MAX
6-19 + class Shop.Cart | class Cart < Base
8-8 + field Shop.Cart.items | attr_reader :items
9-11 + method Shop.Cart.add | def add(other, *rest, key: 1, &blk)
12-12 + method Shop.Cart.build | def self.build
13-13 + method Shop.Cart.ready? | def ready?
17-17 - method Shop.Cart.hidden | def hidden
18-18 + method Shop.Cart.shown | def shown
""",
        imports=["./money", "shop/rates"],
    ),
    "php": Sample(
        path="src/Models/Cart.php",
        source=r"""<?php
namespace App\Models;
use App\Money\Money;
use App\Util\{A, B as C};
require_once __DIR__ . '/helpers.php';
/** Holds items. */
#[Entity]
final class Cart extends Base {
    const MAX = 1;
    public int $items = 3;
    private $hidden;
    public static function add(Money $other, ...$rest): Money { return $other; }
    protected function part() {}
}
interface Shape { public function area(): float; }
function top(int $a): int { return $a; }
""",
        symbols=r"""
6-14 + class Cart | final class Cart extends Base
9-9 + constant Cart.MAX | const MAX
10-10 + field Cart.items | public int $items
11-11 - field Cart.hidden | private $hidden
12-12 + method Cart.add | public static function add(Money $other, ...$rest): Money
13-13 - method Cart.part | protected function part()
15-15 + interface Shape | interface Shape
15-15 + method Shape.area | public function area(): float
16-16 + function top | function top(int $a): int
""",
        imports=["App\\Money\\Money", "App\\Util\\A", "App\\Util\\B", "./helpers.php"],
    ),
}
